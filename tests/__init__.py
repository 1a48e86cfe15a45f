"""The tests of cfq-lint and of the emulator, apart from each other as the packages are."""
