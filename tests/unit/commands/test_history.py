from pathlib import Path

import pytest
from unit.tracking import judged

from sluice.commands.history import history
from sluice.commands.promote import promote
from sluice.commands.rollback import rollback
from sluice.tracking.register import register


def test_history_shows_who_promoted_what_and_why(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every promotion and rollback is a line, oldest first, with its reason as it was written."""
    monkeypatch.setenv("COLUMNS", "200")
    store = judged.fresh_store(workspace)
    history(judged.params())
    assert "nothing was promoted for shapes yet" in capsys.readouterr().out

    for seed, verdict in enumerate(("PROMOTE", "HOLD")):
        judged.write_all(seed=seed, verdict=verdict)
        register(store, judged.candidate())
    promote(judged.params())
    promote(judged.params(), version=2, force=True, reason="[bold]a demo[/bold]")
    rollback(judged.params())
    capsys.readouterr()
    history(judged.params())
    lines = [line for line in capsys.readouterr().out.splitlines() if "champion" in line]
    assert len(lines) == 3
    assert [word in lines[1] for word in ("HOLD (forced)", "[bold]a demo[/bold]")] == [True, True]
    assert "rollback" in lines[2]
