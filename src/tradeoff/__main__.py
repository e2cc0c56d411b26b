"""`python -m tradeoff` is the command `tradeoff`."""

from tradeoff.cli import main

if __name__ == "__main__":
    main()
