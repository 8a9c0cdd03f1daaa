import signal

from sluice.engines.isolated import run_isolated


def test_the_reply_comes_back() -> None:
    """What the function returns in the other process is returned here."""
    found = run_isolated("json:dumps", {"obj": {"a": 1}}, timeout_s=60)
    assert (found.state, found.reason, found.reply) == ("ok", "", '{"a": 1}')


def test_a_crash_is_a_state() -> None:
    """A process that kills itself takes nothing with it."""
    found = run_isolated("os:abort", {}, timeout_s=60)
    assert (found.state, found.reason) == ("crashed", f"its process was ended by {signal.Signals.SIGABRT.name}")


def test_a_hang_is_a_state() -> None:
    """A process that waits for ever is stopped at its limit."""
    found = run_isolated("signal:pause", {}, timeout_s=2)
    assert (found.state, found.reason) == ("timeout", "it took over 2 s and was stopped")


def test_an_error_of_ours_keeps_its_words() -> None:
    """A refusal reads in the report as it would on the screen."""
    request = {"engine": "none", "folder": "/", "asked": "/none", "answered": "/none"}
    found = run_isolated("sluice.engines.answering:answer_files", request, timeout_s=60)
    assert found.state == "failed"
    assert found.reason.startswith("engine 'none' does not exist. Take one of:")


def test_an_unexpected_error_is_a_state() -> None:
    """The last line of a traceback is the reason."""
    found = run_isolated("json:loads", {"s": "{"}, timeout_s=60)
    assert found.state == "failed"
    assert "JSONDecodeError" in found.reason


def test_a_quiet_end_is_a_failure() -> None:
    """A process that ends well without a reply has not done its work."""
    found = run_isolated("sys:exit", {}, timeout_s=60)
    assert (found.state, found.reason) == ("failed", "its process ended with code 0")


def test_a_blocked_library_cannot_be_imported() -> None:
    """What is said to work without torch is tried without torch."""
    request = {"name": "torch.nn"}
    found = run_isolated("importlib:import_module", request, timeout_s=60, without=("torch",))
    assert found.state == "failed"
    assert found.reason == "ModuleNotFoundError: No module named 'torch'"
