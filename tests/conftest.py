"""What the whole test suite shares."""

pytest_plugins = ["tests.left_out"]
