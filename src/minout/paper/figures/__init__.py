"""The paper's figures: each is settings → rows → a drawing and claims, made from rows alone."""
