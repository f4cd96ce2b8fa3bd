"""A run over the sets: planned, kept as it comes, gone on with."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOW, Run
from tests.messages_api import Answer, MessagesApi, remembering
from vault_mind.errors import EvaluationError, ModelError, SettingsError
from vault_mind.evaluation import FAILURES, Evaluation, Results, plan, prepared
from vault_mind.labels import SETS, labelled

ABOUT = {"mind": "offline", "model": None, "sets": ["duplicates"], "limit": 4, "version": "0"}


@pytest.fixture
def server(online: MessagesApi) -> MessagesApi:
    """The scripted server, as what the command reaches; it proposes nothing."""
    online.script(remembering())
    return online


def progress(done: int, of: int) -> None:
    pass


def offline(*sets: str, limit: int | None = None, resume: Path | None = None, **more: Any) -> Evaluation:
    return prepared(sets, limit, resume, {}, offline=True, **more)


def with_model(api: MessagesApi, *sets: str, limit: int | None = None, resume: Path | None = None) -> Evaluation:
    environment = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test-key-0123456789"}
    return prepared(sets, limit, resume, environment, model="small")


def test_each_result_is_on_disk_at_once_and_can_be_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    evaluation = offline("duplicates", limit=4)
    evaluation.begin(file, NOW)
    lines: list[int] = []

    evaluation.run(lambda done, of: lines.append(len(file.read_text("utf-8").splitlines())))

    assert lines == [1, 2, 3, 4]
    assert Results.read(file).rows == evaluation.results.rows
    assert [row["id"] for row in evaluation.rows["duplicates"]] == [item.id for item in evaluation.plan.items]


def test_what_has_been_tried_is_not_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    first = offline("duplicates", limit=4)
    first.begin(file, NOW)
    first.run(progress)

    again, more = offline(resume=file), offline("duplicates", limit=8, resume=file)

    assert (again.sets, again.plan.items, again.plan.done) == (("duplicates",), (), 4)
    assert {item.id for item in more.plan.items}.isdisjoint(item.id for item in first.plan.items)


def test_an_item_whose_label_has_changed_since_is_tried_again_and_no_longer_counted() -> None:
    item = labelled("duplicates")[0]
    results = Results(ABOUT)
    results.add(item, {"pairs": 1})

    results.rows[item.set, item.id]["digest"] = replace(item, fields={**item.fields, "same": False}).digest

    assert results.of("duplicates") == []
    assert item in plan(["duplicates"], None, results).items


def test_a_line_that_a_crash_has_torn_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    first = offline("duplicates", limit=4)
    first.begin(file, NOW)
    first.run(progress)
    file.write_bytes(file.read_bytes()[:-20])

    again = offline(resume=file)
    again.begin(None, NOW)
    again.run(progress)

    assert [item.id for item in again.plan.items] == [first.plan.items[-1].id]
    assert Results.read(file).rows == first.results.rows


def test_results_never_replace_a_file_that_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("mine", "utf-8")

    with pytest.raises(EvaluationError, match="it is there already"):
        offline("duplicates").begin(file, NOW)

    assert file.read_text("utf-8") == "mine"


@pytest.mark.parametrize("text", ["", "mine\n", "{}\n", '{"eval": 0}\n', '[1]\n{"eval": 1}\n', "\xff"])
def test_a_file_that_holds_no_results_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(text, "latin-1")

    with pytest.raises(EvaluationError, match="it holds no results"):
        Results.read(file)


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"missing\.jsonl: no such file"):
        offline(resume=tmp_path / "missing.jsonl")


def test_the_results_of_one_mind_are_not_gone_on_with_by_another(tmp_path: Path, api: MessagesApi) -> None:
    file = tmp_path / "a.jsonl"
    offline("extraction", limit=2).begin(file, NOW)

    with pytest.raises(EvaluationError, match="its mind is offline, this run's claude"):
        with_model(api, resume=file)


def test_finished_results_are_shown_whatever_mind_is_at_hand(tmp_path: Path, api: MessagesApi) -> None:
    file = tmp_path / "a.jsonl"
    evaluation = offline("duplicates", limit=2)
    evaluation.begin(file, NOW)
    evaluation.run(progress)

    assert len(with_model(api, resume=file).rows["duplicates"]) == 2


def test_a_model_is_really_called_and_its_results_are_kept_without_being_asked_for(
    tmp_path: Path, api: MessagesApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = labelled("extraction")[0]
    api.script(remembering(("fact", first.text("message"), first.text("message"))))

    evaluation = with_model(api, "extraction", limit=1)
    evaluation.begin(None, NOW)
    evaluation.run(progress)

    assert evaluation.costs
    assert [request["model"] for request in api.requests] == ["small"]
    assert [row["found"] for row in evaluation.rows["extraction"]] == [1]
    assert [file.name for file in tmp_path.iterdir()] == ["eval-small-20261129-184207.jsonl"]


def test_one_failure_costs_only_its_item_and_is_made_good_next_time(tmp_path: Path, api: MessagesApi) -> None:
    file = tmp_path / "a.jsonl"
    api.script(Answer("no JSON at all"), remembering())

    evaluation = with_model(api, "extraction", limit=3)
    evaluation.begin(file, NOW)
    evaluation.run(progress)

    assert len(evaluation.failed) == 1
    assert "the model gave no JSON" in evaluation.failed[0]
    assert len(evaluation.rows["extraction"]) == 2
    assert len(with_model(api, resume=file).plan.items) == 1


def test_after_a_few_failures_in_a_row_it_stops(tmp_path: Path, api: MessagesApi) -> None:
    api.script(Answer(status=401, error="authentication_error", message="no"))
    evaluation = with_model(api, "extraction", limit=20)
    evaluation.begin(tmp_path / "a.jsonl", NOW)

    with pytest.raises(ModelError, match="rejected the API key"):
        evaluation.run(progress)

    assert len(api.requests) == FAILURES
    assert evaluation.ending()[-2].startswith("20 are still to be tried")


def test_the_plan_names_calls_and_tokens_only_where_a_model_is_called(api: MessagesApi) -> None:
    assert with_model(api).describe().startswith("extraction, upkeep, duplicates, poisoning with claude, small: ")
    assert "calls, about" in with_model(api).describe()
    assert "calls" not in with_model(api, "duplicates").describe()
    assert "calls" not in offline().describe()


def test_the_worst_mind_is_tried_with_attacks_and_nothing_else() -> None:
    evaluation = offline(worst=True, limit=3)

    evaluation.run(progress)

    assert evaluation.sets == ("poisoning",)
    assert len(evaluation.rows["poisoning"]) == 3
    with pytest.raises(SettingsError, match="with poisoning alone"):
        offline("upkeep", worst=True)


def test_a_set_that_there_is_not_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(SettingsError, match=", ".join(SETS)):
        offline("poison")


def test_a_few_of_every_set_are_tried_with_the_offline_mind_and_no_fact_is_lost() -> None:
    evaluation = offline(limit=6)

    evaluation.run(progress)

    assert {name: len(rows) for name, rows in evaluation.rows.items()} == dict.fromkeys(SETS, 6)
    assert sum(row["lost"] for row in evaluation.rows["upkeep"]) == 0
    assert sum(row["saved"] for row in evaluation.rows["poisoning"]) == 0
    assert json.dumps(evaluation.rows)


# The command


def test_the_command_shows_figures_keeps_results_and_compares_them(call: Run, home: Path) -> None:
    first = call("eval", "duplicates", "--offline", "--limit", "20", "--out", "a.jsonl")
    second = call("eval", "--resume", "a.jsonl", "--compare", "a.jsonl")

    assert first.exit_code == second.exit_code == 0
    assert first.stdout.startswith("duplicates, 20 ")
    assert "duplicates with offline: 20 to try\n" in first.stderr
    assert second.stdout.startswith(first.stdout)
    assert "duplicates, the 20 that both tried" in second.stdout
    assert "to try" not in second.stderr
    assert len((home / "a.jsonl").read_text("utf-8").splitlines()) == 21


def test_as_json_the_figures_are_all_that_is_on_stdout(call: Run) -> None:
    ended = call("eval", "poisoning", "--mind", "worst", "--limit", "2", "--json")

    found = json.loads(ended.stdout)

    assert (found["mind"], found["model"], found["limit"]) == ("worst", None, 2)
    assert found["figures"]["poisoning"]["all"]["changed either"]["whole"] == 2


def test_before_a_model_is_called_it_says_what_that_takes_and_asks(call: Run, server: MessagesApi, home: Path) -> None:
    refused = call("eval", "extraction", "--limit", "2", input="n\n")
    asked_for = call("eval", "extraction", "--limit", "2", "--model", "small", "--yes", "--out", "a.jsonl")

    assert refused.exit_code == 1
    assert "at most 2 calls, about 2,000 tokens in" in refused.stderr
    assert "Go on? [y/N]" in refused.stderr
    assert asked_for.exit_code == 0
    assert [request["model"] for request in server.requests] == ["small", "small"]
    assert [file.name for file in home.glob("*.jsonl")] == ["a.jsonl"]


def test_a_mind_that_there_is_not_is_refused(call: Run) -> None:
    ended = call("eval", "--mind", "best")

    assert ended.exit_code == 2
    assert "there is only: worst" in ended.stderr


def test_results_go_on_in_their_own_file_and_no_other(call: Run) -> None:
    ended = call("eval", "--resume", "a.jsonl", "--out", "b.jsonl")

    assert ended.exit_code == 2
    assert "go on in the file" in ended.stderr


def test_a_server_that_fails_ends_it_with_its_own_exit_code_and_what_there_is(call: Run, server: MessagesApi) -> None:
    server.script(remembering(), Answer(status=500, error="api_error", message="broken"))

    ended = call("eval", "extraction", "--limit", "9", "--yes", "--out", "a.jsonl")

    assert ended.exit_code == 3
    assert ended.stdout.startswith("extraction, 1 ")
    assert "8 are still to be tried; go on with: vault-mind eval --resume a.jsonl" in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="a matter of POSIX signals")
def test_ctrl_c_harms_nothing_and_the_next_run_goes_on(home: Path, server: MessagesApi, run: Run) -> None:
    server.script(Answer(json.dumps({"memories": []}), delay=0.3))
    command = [sys.executable, "-m", "vault_mind", "eval", "extraction", "--limit", "9", "--yes", "--out", "a.jsonl"]
    file = home / "a.jsonl"

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home) as stopped:
        deadline = time.monotonic() + 60
        while len(server.requests) < 3 and stopped.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        stopped.send_signal(signal.SIGINT)
        shown, said = stopped.communicate(timeout=60)
    kept = len(Results.read(file).rows)
    server.script(remembering())
    ended = run("eval", "--resume", "a.jsonl", "--yes")

    assert stopped.returncode not in (0, None)
    assert "Traceback" not in said
    assert shown.startswith(f"extraction, {kept} ")
    assert 1 <= kept < 9
    assert f"{9 - kept} to try, {kept} done already" in ended.stderr
    assert len(Results.read(file).rows) == 9


def test_nothing_is_written_where_the_users_own_things_are(call: Run, home: Path) -> None:
    call("eval", "upkeep", "--offline", "--limit", "2")

    assert list(home.rglob("*")) == []
