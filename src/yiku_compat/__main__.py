"""Console entry point of the compatible interfaces (`yiku-compat`, `python -m yiku_compat`)."""

import sys


def main() -> None:
    """Run the command line."""
    from yiku_compat.console import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
