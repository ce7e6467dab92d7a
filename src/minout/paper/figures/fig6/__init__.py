"""The appendix's figure on SGD: an ordinary network fails on MNIST in label order."""
