"""Read Parquet with pyarrow, some rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from minout.errors import InvalidInputError, MissingDataError
from minout.files.reader import BadRowError, Options, Reader, Row, with_first
from minout.files.text import unreadable
from minout.files.values import check_names, flattened, import_extra


class ParquetReader(Reader):
    """The rows of a Parquet file; structs and lists become columns, as in JSON."""

    unit = "row"

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(str(path), options)
        parquet = import_extra("pyarrow.parquet", "parquet", "Parquet files need pyarrow")
        self._done = 0
        try:
            self._file = parquet.ParquetFile(path)
        except Exception as error:  # pyarrow raises many types on damaged files
            if isinstance(error, OSError) and error.errno is not None:
                raise unreadable(path, error) from None
            raise MissingDataError(
                f"{path} is not a Parquet file, or it is damaged; write or copy it again."
            ) from None
        self._count: int = self._file.metadata.num_rows
        if not self._count:
            raise InvalidInputError(f"{path} is empty; it needs rows.")
        names = [name for name in self._file.schema_arrow.names if not _is_index(name)]
        check_names(self.source, names)
        self.columns, self._rows = with_first(self._read(names))

    @property
    def fraction_read(self) -> float | None:
        """The fraction of the rows that have been read."""
        return self._done / self._count

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def rows(self) -> Iterator[Row | BadRowError]:
        """Yield each row, or what is wrong with it."""
        return self._rows

    def _read(self, names: list[str]) -> Iterator[Row | BadRowError]:
        whole, lengths = (self._options.label, self._options.id), dict[str, int]()
        for values in self._records(names):
            self._done += 1
            try:
                yield Row(flattened(values, whole, lengths), self._done)
            except InvalidInputError as error:
                yield self.bad_row(self._done, str(error), values)

    def _records(self, names: list[str]) -> Iterator[dict[str, Any]]:
        try:
            for batch in self._file.iter_batches(batch_size=1_024, columns=names):
                yield from batch.to_pylist()
        except Exception:  # pyarrow raises many types on damaged files
            raise MissingDataError(
                f"{self.source} is damaged after row {self._done}; the rows before were read. "
                "Write or copy it again."
            ) from None


def _is_index(name: str) -> bool:
    return name.startswith("__index_level_") and name.endswith("__")  # written by pandas
