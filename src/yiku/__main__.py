"""The console entry. Nothing is imported before it is known what is wanted."""


def main() -> None:
    """Run the command line."""
    from yiku.interfaces.cli import run

    run()


if __name__ == "__main__":
    main()
