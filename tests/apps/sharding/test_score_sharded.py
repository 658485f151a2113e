"""Texts in many files: the numbers of one machine, whatever the shards, and only what is missing is done again."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import EXAMPLES, ROOT, ngrams, slow_ngrams, texts_of, write_jsonl

from mauve_metric import compute_mauve, score_sharded
from mauve_metric.apps.sharding import shards
from mauve_metric.apps.sharding.score_sharded import shard_pass
from mauve_metric.apps.sharding.shards import ShardFeaturizer
from mauve_metric.features.feature_files import read_features, write_features
from mauve_metric.scoring.score import NOT_READ_AGAIN

HUMAN, MODEL = texts_of(330, seed=0), texts_of(270, seed=1, longest=20)
OPTIONS: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 12, "num_runs": 2, "seed": 3}


def write_shards(folder: Path, texts: list[str], count: int) -> Path:
    """The texts in so many files, of unequal sizes, the names in order."""
    folder.mkdir(parents=True)
    ends = [len(texts) * (index + 1) ** 2 // count**2 for index in range(count)]
    for index, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        write_jsonl(folder / f"part-{index:03d}.jsonl", texts[start:end])
    return folder


@pytest.fixture(autouse=True)
def texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards keep no texts, which `compute_mauve` reads again for the score without format."""
    monkeypatch.setattr("mauve_metric.scoring.without_layout.MOST_AGAIN", 0)
    monkeypatch.setattr("mauve_metric.scoring.without_layout.TWICE", NOT_READ_AGAIN)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return write_shards(tmp_path / "human", HUMAN, 3), write_shards(tmp_path / "model", MODEL, 4)


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, **OPTIONS).to_dict()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the shards that are really featurized."""
    names: list[str] = []
    featurized = ShardFeaturizer._written_texts

    def watched(self: ShardFeaturizer, task: Any) -> Any:
        names.append(Path(task.shard.name).stem)
        return featurized(self, task)

    monkeypatch.setattr(ShardFeaturizer, "_written_texts", watched)
    return names


@pytest.mark.parametrize("checkpoint", [False, True])
def test_the_result_is_that_of_one_machine_to_the_last_number(
    sides: tuple[Path, Path], whole: dict[str, Any], tmp_path: Path, checkpoint: bool
) -> None:
    out = tmp_path / "out"
    options = {"checkpoint": out} if checkpoint else {}
    result = score_sharded(*sides, out, permutations=20, **OPTIONS, **options)
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, permutations=20, **OPTIONS)
    assert result.to_dict() == expected.to_dict() and np.array_equal(result.q_labels, expected.q_labels)


def test_a_field_of_prompts_that_is_not_used_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sides = {}
    for name, texts in (("p", HUMAN[:40]), ("q", MODEL[:40])):
        sides[f"{name}_text"] = file = tmp_path / f"{name}.jsonl"
        rows = (json.dumps({"text": text, "prompt": f"prompt {number // 2}"}) for number, text in enumerate(texts))
        file.write_text("\n".join(rows), encoding="utf-8")
    options = {"featurize_model_name": ngrams, "num_buckets": 4, "num_runs": 1}
    said = "q.jsonl has a field 'prompt': where texts share prompts, give prompt_field='prompt'"
    for given in ({}, {"prompt_field": "prompt"}, {"aligned": True}):
        caplog.clear()
        result = score_sharded(**sides, folder=tmp_path / "out", **options, **given)
        assert (said in caplog.text) == (not given) and result.design == {0: "undeclared"}.get(
            len(given), result.design
        )


@pytest.mark.more
def test_prompts_in_a_field_are_the_groups(tmp_path: Path) -> None:
    prompts = [f"prompt {number // 2}" for number in range(len(HUMAN))]
    sides = {}
    for name, texts in (("p", HUMAN), ("q", MODEL)):
        (tmp_path / name).mkdir()
        rows = [json.dumps({"text": text, "asked": prompt}) for text, prompt in zip(texts, prompts, strict=False)]
        for number, part in enumerate((rows[:7], rows[7:])):
            (tmp_path / name / f"{number}.jsonl").write_text("\n".join(part), encoding="utf-8")
        sides[f"{name}_text"] = tmp_path / name
    result = score_sharded(**sides, folder=tmp_path / "out", prompt_field="asked", **OPTIONS)
    groups = {"p_groups": prompts, "q_groups": prompts[: len(MODEL)]}
    assert result.to_dict() == compute_mauve(p_text=HUMAN, q_text=MODEL, **groups, **OPTIONS).to_dict()
    assert result.design == "prompts"
    with pytest.raises(ValueError, match="prompt_field contradicts aligned, p_groups and q_groups"):
        score_sharded(**sides, folder=tmp_path / "out", prompt_field="asked", aligned=True, **OPTIONS)
    with (sides["q_text"] / "1.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"\n{json.dumps({'text': '<think>never ends', 'asked': prompts[0]})}")
    dropping = {**OPTIONS, "strip": "reasoning", "empty_texts": "drop"}  # it is empty once it is stripped
    result = score_sharded(**sides, folder=tmp_path / "out", prompt_field="asked", **dropping)
    assert (result.q_dropped, result.n_q, result.q_prompts) == (1, len(MODEL), len(MODEL) // 2)


def test_shards_of_another_encoding_are_read_as_named(tmp_path: Path) -> None:
    sides = {}
    for name, texts in (("p", HUMAN[:40]), ("q", MODEL[:40])):
        text = "".join(json.dumps({"text": f"{text} café"}, ensure_ascii=False) + "\n" for text in texts)
        sides[f"{name}_text"] = tmp_path / f"{name}.jsonl"
        sides[f"{name}_text"].write_text(text, encoding="cp1252")
    with pytest.raises(ValueError, match="cp1252"):
        score_sharded(**sides, folder=tmp_path / "out", **OPTIONS)
    result = score_sharded(**sides, folder=tmp_path / "out", encoding="cp1252", **OPTIONS)
    texts = {"p_text": [f"{text} café" for text in HUMAN[:40]], "q_text": [f"{text} café" for text in MODEL[:40]]}
    assert result.to_dict() == compute_mauve(**texts, **OPTIONS).to_dict()


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let features count as too many for the memory."""
    monkeypatch.setattr("mauve_metric.apps.sharding.score_sharded.MOST_NUMBERS_AT_ONCE", 100)


@pytest.mark.more
def test_features_beyond_memory_are_scored_as_those_of_one_file(
    sides: tuple[Path, Path], tmp_path: Path, in_blocks: None
) -> None:
    result = score_sharded(*sides, tmp_path / "out", checkpoint=tmp_path / "a", **OPTIONS)
    files = {}
    for name, texts in (("p_features", HUMAN), ("q_features", MODEL)):
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], ngrams(texts))
    expected = compute_mauve(**files, checkpoint=tmp_path / "b", num_buckets=12, num_runs=2, seed=3)
    assert np.array_equal(result.p_hist, expected.p_hist) and np.array_equal(result.q_hist, expected.q_hist)
    assert (result.mauve, result.precision, result.recall) == (expected.mauve, expected.precision, expected.recall)


@pytest.mark.more
def test_a_quantizer_of_all_features_at_once_is_the_one_that_scores(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"featurize_model_name": ngrams, "quantizer": "drmm", "seed": 3}
    options |= {"drmm_layers": 2, "drmm_components": 3, "drmm_steps": 30}
    out = {"folder": tmp_path / "out", "checkpoint": tmp_path / "out"}
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, cache=False, **options)
    result = score_sharded(*sides, **out, **options)
    assert result.to_dict() == expected.to_dict() and result.num_buckets == 9
    for module in ("apps.sharding.score_sharded", "clustering.partition"):
        monkeypatch.setattr(f"mauve_metric.{module}.MOST_NUMBERS_AT_ONCE", 100)
    with pytest.raises(ValueError, match="quantizer='drmm' does not work in blocks"):
        score_sharded(*sides, **out, **options)


@pytest.mark.slow
def test_functions_of_one_name_do_not_share_features(sides: tuple[Path, Path], tmp_path: Path, made: list[str]) -> None:
    options: dict[str, Any] = {"num_buckets": 5, "folder": tmp_path / "out"}
    scores = {}
    for size in (2, 3, 2):
        by_size = lambda texts, size=size: ngrams(texts)[:, :size]  # noqa: E731
        scores.setdefault(size, []).append(score_sharded(*sides, featurize_model_name=by_size, **options).to_dict())
        expected = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=by_size, num_buckets=5, cache=False)
        assert scores[size][-1] == expected.to_dict()
    assert len(made) == 2 * 7 and scores[2][0] == scores[2][1] != scores[3][0]


@pytest.mark.more
@pytest.mark.parametrize("row_order", ["qp", "pq"])
def test_how_texts_are_cut_into_files_has_no_part_in_the_result(
    tmp_path: Path, row_order: str, in_blocks: None
) -> None:
    results = []
    for count in (1, 5):
        human = write_shards(tmp_path / f"human{count}", HUMAN, count)
        model = write_shards(tmp_path / f"model{count}", MODEL, count + 1)
        out = tmp_path / f"out{count}"
        results.append(score_sharded(human, model, out, checkpoint=out, row_order=row_order, **OPTIONS).to_dict())
    assert results[0] == results[1]


@pytest.mark.more
def test_parquet_lists_patterns_and_urls_are_read(
    sides: tuple[Path, Path], whole: dict[str, Any], tmp_path: Path
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    fsspec = pytest.importorskip("fsspec")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": HUMAN}), tmp_path / "human.parquet")
    (sides[1] / "part-999.jsonl").touch()  # as Spark and its like leave behind
    memory = fsspec.filesystem("memory")
    for file in sides[1].iterdir():
        memory.pipe(f"/mauve-shards/{file.name}", file.read_bytes())
    try:
        by_url = score_sharded(tmp_path / "human.parquet", "memory://mauve-shards", tmp_path / "a", **OPTIONS)
        by_pattern = score_sharded([*sorted(sides[0].iterdir())], f"{sides[1]}/part-*", tmp_path / "b", **OPTIONS)
    finally:
        memory.rm("/mauve-shards", recursive=True)
    assert by_url.to_dict() == by_pattern.to_dict() == whole


@pytest.mark.more
def test_started_again_only_what_is_missing_damaged_or_changed_is_done(
    sides: tuple[Path, Path], tmp_path: Path, made: list[str], caplog: pytest.LogCaptureFixture, in_blocks: None
) -> None:
    out = tmp_path / "out"
    first = score_sharded(*sides, out, checkpoint=out, **OPTIONS).to_dict()
    assert len(made) == 7
    made.clear()
    assert score_sharded(*sides, out, checkpoint=out, **OPTIONS).to_dict() == first and made == []
    missing, short, changed, foreign = sorted(out.glob("features/*.npy"))[:4]
    missing.unlink()
    short.write_bytes(short.read_bytes()[:-8])
    content = bytearray(changed.read_bytes())
    content[-5] ^= 64
    changed.write_bytes(content)
    write_features(replace(read_features(foreign), identity={"model": "samples.others"}), foreign)
    kept = out / "clustering.npz"
    kept.write_bytes(kept.read_bytes()[:-30])
    assert score_sharded(*sides, out, checkpoint=out, **OPTIONS).to_dict() == first
    assert sorted(made) == sorted(file.name.rsplit("-", 1)[0] for file in (missing, short, changed, foreign))
    assert "not known to be of this model (model)" in caplog.text and "damaged" in caplog.text
    made.clear()
    write_jsonl(sides[0] / "part-000.jsonl", ["another text", "and one more"])
    other = score_sharded(*sides, out, checkpoint=out, **OPTIONS)
    assert made == ["part-000"] and other.n_p == first["n_p"] - 36 + 2


@pytest.mark.more
def test_weights_that_changed_are_noticed(
    sides: tuple[Path, Path], tiny_gpt2: str, tmp_path: Path, made: list[str]
) -> None:
    torch = pytest.importorskip("torch")
    from transformers import GPT2Model

    folder = tmp_path / "model_folder"
    shutil.copytree(tiny_gpt2, folder)
    options: dict[str, Any] = {"featurize_model_name": str(folder), "device": "cpu", "num_buckets": 5}
    paths = [next(iter(sorted(side.iterdir()))) for side in sides]
    first = score_sharded(*paths, tmp_path / "out", **options)
    again = score_sharded(*paths, tmp_path / "out", **options)
    assert first.to_dict() == again.to_dict() and len(made) == 2
    model = GPT2Model.from_pretrained(folder)
    with torch.no_grad():
        model.wte.weight += 1
    model.save_pretrained(folder)
    assert score_sharded(*paths, tmp_path / "out", **options).signature != first.signature and len(made) == 4


def test_a_shard_that_cannot_be_read_is_named_with_its_row_and_what_was_done_is_kept(
    sides: tuple[Path, Path], tmp_path: Path, made: list[str]
) -> None:
    bad = sides[1] / "part-001.jsonl"
    sound = bad.read_text(encoding="utf-8")
    lines = sound.splitlines(keepends=True)
    bad.write_text("".join([*lines[:6], "{not json\n", *lines[6:]]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^[^ ]*model/part-001\.jsonl, line 7: not JSON"):
        score_sharded(*sides, tmp_path / "out", **OPTIONS)
    assert made == ["part-000", "part-001", "part-002", "part-000", "part-001"]
    made.clear()
    bad.write_text(sound, encoding="utf-8")
    score_sharded(*sides, tmp_path / "out", **OPTIONS)
    assert made == ["part-001", "part-002", "part-003"]


def test_an_error_of_the_machine_names_the_shard(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(shards, "write_features", fails)
    with pytest.raises(OSError, match=r"human/part-000\.jsonl: MemoryError$"):
        score_sharded(*sides, tmp_path / "out", **OPTIONS)


def test_the_documented_array_job_leaves_only_the_score_to_the_last_step(
    sides: tuple[Path, Path], whole: dict[str, Any], tmp_path: Path, made: list[str]
) -> None:
    out = tmp_path / "out"
    for number in reversed(range(3)):
        tasks, work = pickle.loads(pickle.dumps(shard_pass(*sides, out, **OPTIONS)))
        for task in tasks[number::3]:
            work(task)
    assert len(tasks) == len(made) == 7
    assert score_sharded(*sides, out, **OPTIONS).to_dict() == whole and len(made) == 7


@pytest.mark.more
def test_shards_without_texts_count_as_they_do_in_a_list(
    sides: tuple[Path, Path], tmp_path: Path, made: list[str]
) -> None:
    write_jsonl(sides[1] / "part-001-empty.jsonl", ["", " "])
    (sides[1] / "part-002-blank.jsonl").write_text("\n\n", encoding="utf-8")
    options = OPTIONS | {"empty_texts": "drop"}
    found = score_sharded(*sides, tmp_path / "out", **options)
    expected = compute_mauve(p_text=HUMAN, q_text=[*MODEL, "", " "], **OPTIONS, empty_texts="drop")
    assert found.to_dict() == expected.to_dict() and found.q_dropped == 2
    made.clear()
    assert score_sharded(*sides, tmp_path / "out", **options).to_dict() == expected.to_dict()
    assert made == ["part-001-empty", "part-002-blank"]  # there is no file for them


def test_a_shard_of_another_width_is_named(tmp_path: Path) -> None:
    def widening(texts: list[str]) -> np.ndarray:
        return ngrams(texts)[:, : 9 if texts[0] == HUMAN[-1] else 10]

    human = tmp_path / "human"
    human.mkdir()
    for name, texts in (("first", HUMAN[:40]), ("wide", HUMAN[-1:])):
        write_jsonl(human / f"{name}.jsonl", texts)
    options = OPTIONS | {"featurize_model_name": widening}
    with pytest.raises(ValueError, match=r"10 columns in \S*first\S* and .* with 9 in \S*wide\S*$"):
        score_sharded(
            p_text=human, q_text=write_shards(tmp_path / "model", MODEL, 1), folder=tmp_path / "out", **options
        )


def test_a_side_without_any_text_is_refused(sides: tuple[Path, Path], tmp_path: Path) -> None:
    blank = write_shards(tmp_path / "blank", ["", " ", ""], 2)
    with pytest.raises(ValueError, match=r"q_text must hold at least one non-empty text, got 1 files"):
        score_sharded(sides[0], blank, tmp_path / "out", **OPTIONS, empty_texts="drop")
    with pytest.raises(ValueError, match=r"part-001\.jsonl, line 1: the text in 'text' is empty \(3 of 3 in all\)"):
        score_sharded(sides[0], blank, tmp_path / "out", **OPTIONS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"featurize_model_name": (object(), object())}, "featurize_model_name must be a name, a folder or a function"),
        ({"workers": 0}, "workers must be an integer of at least 1, got 0"),
        ({"gpus_per_worker": 1.5}, "gpus_per_worker must be a whole number above 1, got 1.5"),
        ({"cpus_per_worker": "two"}, "cpus_per_worker must be a number in (0, 1e+06), got 'two'"),
        ({"ray": " "}, "ray must be 'local', 'auto' or the address"),
        ({"p_text": []}, "p_text must name at least one file of texts"),
        ({"p_text": "nowhere/*.jsonl"}, "p_text: there are no .jsonl or .parquet files at 'nowhere/"),
        ({"p_text": ["a text " * 99]}, "p_text: there are no .jsonl or .parquet files at '"),
        ({"p_text": __file__}, "p_text must be .jsonl or .parquet files"),
        ({"folder": "s3://bucket/out"}, "folder must be a folder of the file system"),
    ],
)
def test_wrong_arguments_are_named_before_any_work(
    sides: tuple[Path, Path], tmp_path: Path, made: list[str], changes: dict[str, Any], message: str
) -> None:
    given = {"p_text": sides[0], "q_text": sides[1], "folder": tmp_path / "out", **OPTIONS, **changes}
    with pytest.raises((ValueError, TypeError, OSError)) as raised:
        score_sharded(**given)
    assert str(raised.value).startswith(message) and made == []
    assert len(str(raised.value)) < 300


def test_fields_are_named_for_all_shards(sides: tuple[Path, Path], tmp_path: Path) -> None:
    """`FILE:FIELD`, which names one of a single file, is none of a shard."""
    with pytest.raises(FileNotFoundError, match=r"human\.jsonl:text': text_field='text' names the field$"):
        score_sharded(f"{EXAMPLES / 'human.jsonl'}:text", sides[1], tmp_path / "out", **OPTIONS)
    with pytest.raises(
        ValueError, match=r"has no field 'story'; it has 'text' .*: name one, such as text_field='text'$"
    ):
        score_sharded(*sides, tmp_path / "out", text_field="story", **OPTIONS)
    (tmp_path / "two").mkdir()
    rows = [{"note": f"a note {number}", "tale": f"one tale {number}"} for number in range(20)]
    (tmp_path / "two" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with pytest.raises(ValueError, match=r"name one, such as text_field='note'$"):
        score_sharded(tmp_path / "two", sides[1], tmp_path / "out", **OPTIONS)
    kinds = [{"text": f"one tale {number}", "label": ("human", "model")[number % 2]} for number in range(20)]
    (tmp_path / "two" / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in kinds), encoding="utf-8")
    with pytest.raises(ValueError, match=r"choose one, such as text_field='text\[label=human\]' \("):
        score_sharded(tmp_path / "two", sides[1], tmp_path / "out", **OPTIONS)
    assert score_sharded(*[tmp_path / "two"] * 2, tmp_path / "out", text_field="text[label=human]", **OPTIONS).n_p == 10


def test_files_of_no_bytes_alone_are_no_set(sides: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").touch()
    with pytest.raises(
        ValueError, match=r"^p_text must hold at least one text, got files of no bytes: '.*none\.jsonl'$"
    ):
        score_sharded(tmp_path / "none.jsonl", sides[1], tmp_path / "out", **OPTIONS)


@pytest.mark.more
def test_a_warning_about_first_words_is_there_when_features_are_read_again(tmp_path: Path) -> None:
    human = write_shards(tmp_path / "human", HUMAN, 2)
    model = write_shards(tmp_path / "model", [f"Sure, here is a text {text}" for text in MODEL], 2)
    first, again = (score_sharded(human, model, tmp_path / "out", **OPTIONS) for _ in range(2))
    assert first.to_dict() == again.to_dict()
    assert "Sure" in str(first.warnings) or "sure" in str(first.warnings)


# With Ray, in network and process namespaces of its own: Ray listens on all interfaces.

ALONE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]
SIDES = [("human", HUMAN), ("model", MODEL)]
SECONDS = 1800  # the limit of all of them together


@functools.cache
def _why_not() -> str | None:
    """Why the tests with Ray cannot run here; None if they can."""
    if importlib.util.find_spec("ray") is None:
        return "Ray is not installed: pip install 'mauve_metric[ray]'"
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "ip link set lo up"], capture_output=True).returncode:
        return "namespaces cannot be made here (unshare --net --pid)"
    return None


@pytest.fixture(scope="module")
def slowly() -> dict[str, Any]:
    options = {**OPTIONS, "featurize_model_name": slow_ngrams}
    found = compute_mauve(p_text=HUMAN, q_text=MODEL, **options).to_dict()
    return json.loads(json.dumps(found))


@pytest.fixture(scope="module")
def on_ray(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `ray_events.py` writes."""
    reason = _why_not()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("ray")
    places = [write_shards(folder / "human", HUMAN, 10), write_shards(folder / "model", MODEL, 10), folder / "out"]
    words = [sys.executable, str(ROOT / "tests" / "ray_events.py"), *map(str, places)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    done = subprocess.run(
        [*ALONE, 'ip link set lo up; exec "$0" "$@"', *words],
        env={**environment, "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0"},  # no other process goes first
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    if "timed out during startup" in done.stderr:
        pytest.skip("Ray could not start within its own limit of time on this busy machine")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


@pytest.mark.ray
@pytest.mark.parametrize("event", ["driver", "worker", "workers", "node"])
def test_on_ray_what_is_lost_changes_nothing_and_no_shard_is_done_twice(
    on_ray: dict[str, Any], slowly: dict[str, Any], event: str
) -> None:
    result, before, again = on_ray[event]
    assert result == slowly and 4 <= before < 20 and again == 0


@pytest.mark.ray
def test_on_ray_a_bad_shard_is_named(on_ray: dict[str, Any]) -> None:
    assert "model/part-001.jsonl, line 1: not JSON" in on_ray["bad shard"]


@pytest.mark.ray
def test_on_a_cluster_of_this_machine_the_result_is_the_same(on_ray: dict[str, Any], slowly: dict[str, Any]) -> None:
    assert on_ray["local"] == slowly
