import os
import socket
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from sluice.config.data import ValidateConfig
from sluice.errors import DataError, SluiceError
from sluice.validation import judge as judge_module
from sluice.validation.judge import Judgement, judge
from sluice.validation.summary import refuse_blocked, summarise

MakeIndex = Callable[..., pd.DataFrame]


def judged(index: pd.DataFrame, *, quarantined: dict[str, str] | None = None, **config: Any) -> Judgement:
    return judge(index, quarantined=quarantined or {}, config=ValidateConfig(**config))


def found(judgement: Judgement) -> dict[str, str]:
    return {finding.rule: finding.severity for finding in judgement.findings}


def message(judgement: Judgement, rule: str) -> str:
    return next(finding.message for finding in judgement.findings if finding.rule == rule)


def test_sound_index_has_no_findings(make_index: MakeIndex) -> None:
    """Nothing is said about sound data, with and without brought splits."""
    assert judged(make_index()).findings == ()
    assert judged(make_index(splits=("train", "val", "test"))).findings == ()


def test_empty_index_blocks(make_index: MakeIndex) -> None:
    """H1: a table without rows does not pass, and the first findings are the counts of rows and classes."""
    judgement = judged(make_index(0))
    assert [finding.rule for finding in judgement.blocking[:2]] == ["samples", "classes"]
    assert "no sample that can be used" in judgement.blocking[0].message


def test_index_without_columns_blocks() -> None:
    """H1: nor does a table without columns."""
    assert found(judged(pd.DataFrame()))["samples"] == "block"


def test_table_without_rules_is_an_error(make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """H1: an empty suite is an error of ours, not a pass."""
    monkeypatch.setattr(judge_module, "rules_of", lambda *_, **__: [])
    with pytest.raises(SluiceError, match="no rule judges the table 'data_set'"):
        judged(make_index())


def test_rule_that_cannot_be_judged_blocks(make_index: MakeIndex) -> None:
    """A rule that raises inside Great Expectations blocks, whatever its severity, and gives the reason."""
    index = make_index()
    rules = judge_module.rules_of(
        judge_module.build_tables(index, quarantined={}), quarantined={}, config=ValidateConfig()
    )
    blank = next(rule for rule in rules if rule.name == "blank")
    broken = type(blank)(**vars(blank) | {"check": type(blank.check)(blank.check.kind, "absent", blank.check.limits)})
    frames = judge_module._frames(judge_module.build_tables(index, quarantined={}))
    outcomes = judge_module._run(frames, rules=[*(rule for rule in rules if rule is not blank), broken])
    outcome = next(item for item in outcomes["samples"].results if judge_module._rule_name(item) == "blank")
    assert judge_module._severity(broken, outcome) == "block"
    assert 'could not be judged: Error: The column "absent"' in judge_module._message(broken, outcome)


def test_types_do_not_matter(make_index: MakeIndex) -> None:
    """H3: object, string, nullable and categorical columns are judged like plain ones; what is missing is missing."""
    index = make_index().astype(
        {"sample": object, "label": "category", "split": "string", "width": "Int64", "std": "float32"}
    )
    assert judged(index).findings == ()
    index.loc[4, "width"] = None
    index.loc[5, "split"] = None
    assert found(judged(index)) == {"split_given": "block", "width_given": "block"}


@pytest.mark.parametrize(
    ("column", "value", "rule", "words"),
    [
        ("label", None, "label_given", r"no label: dog/4.png"),
        ("label", "  ", "label_text", r"blank label: dog/4.png"),
        ("split", "dev", "split_known", r"a split other than train, val, test: dog/4.png \(dev\)"),
        ("width", 0, "width_range", r"width below 1: dog/4.png \(0\)"),
        ("channels", 5, "channels_range", r"channels outside 1 to 4: dog/4.png \(5\)"),
        ("mean", 256.0, "mean_range", r"mean outside 0 to 255: dog/4.png \(256\)"),
        ("std", float("nan"), "std_given", r"no std: dog/4.png"),
        ("sample", "cat/3.png", "unique", r"stands twice: cat/3.png"),
    ],
)
def test_rows_outside_the_rules_block_by_name(
    make_index: MakeIndex, column: str, value: object, rule: str, words: str
) -> None:
    """A row outside the rules blocks, and the message names the sample and the value."""
    index = make_index().astype({column: object})
    index.loc[4, column] = value
    judgement = judged(index)
    assert found(judgement)[rule] == "block"
    with pytest.raises(DataError, match=words):
        refuse_blocked(judgement)


def test_small_class_is_named(make_index: MakeIndex) -> None:
    """A14: too few samples of a class block, with its name, its count and the key to change."""
    index = make_index()
    index.loc[0, "label"] = "fox"
    with pytest.raises(DataError, match=r"validate.min_samples_per_class \(2\) in class: fox \(1\)\. Add samples"):
        refuse_blocked(judged(index))
    assert judged(index, min_samples_per_class=1, imbalance_warning=99.0).findings == ()


def test_one_class_is_refused(make_index: MakeIndex) -> None:
    """A21: with one class there is nothing to learn."""
    with pytest.raises(DataError, match=r"1 class\(es\) with accepted samples, and learning needs 2"):
        refuse_blocked(judged(make_index(classes=("cat",))))


def test_imbalance_warns(make_index: MakeIndex) -> None:
    """A21: 990 to 10 is a warning that names both ends, and no block."""
    judgement = judged(make_index(1000, classes=("cat",) * 99 + ("dog",)))
    assert found(judgement) == {"imbalance": "warn"}
    assert "99.0 times the smallest (cat: 990, dog: 10)" in message(judgement, "imbalance")


@pytest.mark.parametrize("split", ["val", "test"])
def test_class_missing_in_a_held_out_split_warns(make_index: MakeIndex, split: str) -> None:
    """A6, A7: a class without samples in val or test is a warning that names it."""
    index = make_index(splits=("train", split))
    index = index[(index["split"] == "train") | (index["label"] != "dog")]
    judgement = judged(index)
    assert found(judgement) == {f"classes_in_{split}": "warn"}
    assert f"no sample in the {split} split" in message(judgement, f"classes_in_{split}")
    assert ": dog (0)" in message(judgement, f"classes_in_{split}")


def test_class_unknown_to_train_blocks(make_index: MakeIndex) -> None:
    """A6, A7: a class of val that train lacks blocks and is named."""
    index = make_index(splits=("train", "val"))
    index = index[(index["split"] == "val") | (index["label"] != "dog")]
    with pytest.raises(DataError, match="no training sample, though val or test has some, in class: dog"):
        refuse_blocked(judged(index))


def test_splits_without_train_block(make_index: MakeIndex) -> None:
    """A7: held-out splits alone teach nothing."""
    assert found(judged(make_index(splits=("test",))))["training_samples"] == "block"


@pytest.mark.parametrize("severity", ["block", "warn"])
def test_equal_samples_across_splits(make_index: MakeIndex, severity: str) -> None:
    """A13: one content in two brought splits blocks by default, warns by configuration, and both files are named."""
    index = make_index(splits=("train", "test"))
    index.loc[3, "digest"] = index.loc[0, "digest"]
    judgement = judged(index, cross_split_duplicates=severity)
    assert found(judgement) == {"cross_split_duplicates": severity}
    assert "1 image(s) stand in more than one split: train/cat/0.png = test/cat/3.png" in judgement.findings[0].message
    assert ValidateConfig().cross_split_duplicates == "block"


def test_equal_samples_without_brought_splits(make_index: MakeIndex) -> None:
    """A13: where Sluice makes the splits, equal samples are no leak."""
    index = make_index()
    index.loc[3, "digest"] = index.loc[0, "digest"]
    assert judged(index).findings == ()


def test_conflicting_labels_warn(make_index: MakeIndex) -> None:
    """A13: one content in two classes is a warning that names both."""
    index = make_index()
    index.loc[1, "digest"] = index.loc[0, "digest"]
    judgement = judged(index)
    assert found(judgement) == {"conflicting_labels": "warn"}
    assert "cat/0.png (cat) = dog/1.png (dog)" in judgement.findings[0].message


def test_quarantine_within_the_share_warns(make_index: MakeIndex) -> None:
    """A1, A2: a few unreadable files warn, with path and reason of each."""
    judgement = judged(make_index(200), quarantined={"cat/cut.jpg": "truncated"})
    assert found(judgement) == {"quarantined": "warn"}
    assert "1 of 201 samples cannot be read and are left out: cat/cut.jpg (truncated)" in judgement.findings[0].message


def test_quarantine_beyond_the_share_blocks(make_index: MakeIndex) -> None:
    """A1, A2: more unreadable files than allowed block, with the limit."""
    bad = {f"cat/{row}.jpg": "looks like HTML" for row in range(30)}
    with pytest.raises(DataError, match=r"max_quarantined_share allows \(0.01\): .*looks like HTML\) and 20 more"):
        refuse_blocked(judged(make_index(), quarantined=bad))


def test_quarantine_can_refuse(make_index: MakeIndex) -> None:
    """A1: with the policy 'refuse' one unreadable file blocks."""
    judgement = judged(make_index(200), quarantined={"cat/cut.jpg": "truncated"}, quarantine="refuse")
    assert found(judgement) == {"quarantined": "block"}


def test_class_whose_samples_are_all_unreadable_blocks(make_index: MakeIndex) -> None:
    """A6: a class does not vanish because its only files are broken; strays beside the class folders do not count."""
    bad = {"train/fox/a.jpg": "truncated", "train/stray.jpg": "lies in no class folder"}
    judgement = judged(make_index(300, splits=("train",)), quarantined=bad)
    assert found(judgement) == {"emptied_folders": "block", "quarantined": "warn"}
    assert "unreadable in train/fox." in message(judgement, "emptied_folders")


def test_blank_images_warn(make_index: MakeIndex) -> None:
    """An image of one grey value is a warning that names it."""
    index = make_index()
    index.loc[7, "std"] = 0.0
    judgement = judged(index)
    assert found(judgement) == {"blank": "warn"}
    assert "dog/7.png" in judgement.findings[0].message


def test_all_problems_are_said_at_once(make_index: MakeIndex) -> None:
    """Every blocking finding has a line, warnings have none, and there is no error without a blocking one."""
    index = make_index()
    index.loc[7, "std"] = 0.0
    refuse_blocked(judged(index))
    index.loc[0, "label"] = "fox"
    index.loc[4, "width"] = 0
    with pytest.raises(DataError, match="data/raw has 2 problems that block:") as raised:
        refuse_blocked(judged(index))
    assert [line.split(":")[0].strip() for line in str(raised.value).splitlines()[1:]] == [
        "samples_per_class",
        "width_range",
    ]


def test_nothing_goes_over_the_network(make_index: MakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """H5: with analytics off no name is looked up and no connection is opened."""

    def refuse(*args: object, **_: object) -> None:
        raise AssertionError(f"network: {args}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert os.environ["GX_ANALYTICS_ENABLED"] == "false"
    assert judged(make_index()).findings == ()


def test_summary(make_index: MakeIndex) -> None:
    """A5, A11: the summary holds counts, classes by name, brought splits, every quarantined path and every finding."""
    index = make_index(200, splits=("train", "test"))
    bad = {"cat/cut.jpg": "truncated"}
    judgement = judged(index, quarantined=bad)
    summary = summarise(index, quarantined=bad, ignored=3, turned=1, judgement=judgement)
    values = summary.as_json()
    assert values["samples"] == 201
    assert values["accepted"] == 200
    assert values["quarantined"] == [{"path": "cat/cut.jpg", "reason": "truncated"}]
    assert values["ignored"] == 3
    assert values["turned"] == 1
    assert values["classes"] == {"cat": 67, "dog": 67, "eel": 66}
    assert values["splits"] == {"train": 101, "test": 99}
    assert [item["rule"] for item in values["findings"]] == ["quarantined"]
    text = "\n".join(summary.lines())
    assert "3: cat (67), dog (67), eel (66)" in text
    assert "warning: 1 of 201 samples cannot be read" in text
