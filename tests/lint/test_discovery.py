"""Which files a run reads, which one wrangler would read, and the redirects of builds."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from cfq_lint import lint_paths
from cfq_lint.source.discovery import FILE_PATTERN, Surroundings, find, is_whole_project, survey
from cfq_lint.source.document import read

from .support import FIXTURES, lint_files, run

OK = '{ "name": "a", "queues": {} }'
TOML = 'name = "a"\nqueues = {}\n'


def build(folder, *names):
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TOML if name.endswith("toml") else OK, encoding="utf-8")


def found(folder, *paths, exclude=()):
    """The files that a run reads, relative to the folder."""
    files, problems = find([str(folder / path) for path in paths] or [str(folder)], [(str(folder), list(exclude))])
    assert not problems or (not files and problems == [f"no wrangler files in {folder}"])
    return [os.path.relpath(file, folder).replace(os.sep, "/") for file in files]


# --- which files


@pytest.mark.parametrize(
    ("name", "is_config"),
    [
        ("wrangler.json", True), ("wrangler.jsonc", True), ("wrangler.toml", True), ("wrangler.staging.toml", True), ("wrangler.a-b_1.jsonc", True),
        ("a/b/wrangler.toml", True), ("mywrangler.json", False), ("package.json", False), ("wrangler.jsonc.bak", False), ("wrangler.yaml", False),
        ("wrangler.toml.example", False), ("wranglerxtoml", False), ("wrangler", False), ("config/mywrangler.json", False),
    ],
)  # fmt: skip
def test_the_name_tells_a_configuration(name, is_config, tmp_path):
    build(tmp_path, name)
    assert found(tmp_path) == ([name] if is_config else [])


def test_folders_are_searched_to_the_bottom_and_files_are_sorted(tmp_path):
    build(tmp_path, "z/wrangler.toml", "a/b/c/d/wrangler.jsonc", "wrangler.json", "a/wrangler.toml")
    assert found(tmp_path) == ["a/b/c/d/wrangler.jsonc", "a/wrangler.toml", "wrangler.json", "z/wrangler.toml"]


def test_node_modules_and_hidden_folders_are_passed_over(tmp_path):
    build(tmp_path, "node_modules/x/wrangler.toml", ".git/wrangler.toml", ".hidden/wrangler.json", "a/node_modules/wrangler.json", "a/wrangler.json")
    assert found(tmp_path) == ["a/wrangler.json"]


def test_what_gitignore_names_is_passed_over_with_its_negations(tmp_path):
    build(tmp_path, "dist/wrangler.json", "a/dist/wrangler.json", "b/wrangler.json", "b/keep/wrangler.json", "c/wrangler.toml")
    (tmp_path / ".gitignore").write_text("dist/\n*.toml\n", encoding="utf-8")
    (tmp_path / "b" / ".gitignore").write_text("wrangler.json\n!keep/wrangler.json\n", encoding="utf-8")
    assert found(tmp_path) == ["b/keep/wrangler.json"]


def test_gitignore_files_above_the_folder_count_up_to_the_repository(tmp_path):
    build(tmp_path, "repo/a/build/wrangler.json", "repo/a/wrangler.json")
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / ".gitignore").write_text("build\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("wrangler.json\n", encoding="utf-8")
    assert found(tmp_path / "repo" / "a") == ["wrangler.json"]


def test_a_named_file_is_read_wherever_it_stands_and_whatever_its_name(tmp_path):
    build(tmp_path, "node_modules/x/wrangler.toml", ".hidden/conf.jsonc", "dist/wrangler.json")
    (tmp_path / ".gitignore").write_text("dist/\n", encoding="utf-8")
    assert found(tmp_path, "node_modules/x/wrangler.toml", ".hidden/conf.jsonc", "dist/wrangler.json") == [
        ".hidden/conf.jsonc", "dist/wrangler.json", "node_modules/x/wrangler.toml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("globs", "left"),
    [
        (["a"], ["b/wrangler.toml", "wrangler.toml"]),
        (["a/**"], ["b/wrangler.toml", "wrangler.toml"]),
        (["*/wrangler.toml"], ["a/c/wrangler.toml", "wrangler.toml"]),
        (["/wrangler.toml"], ["a/c/wrangler.toml", "a/wrangler.toml", "b/wrangler.toml"]),
        (["wrangler.toml", "!b/wrangler.toml"], ["b/wrangler.toml"]),
        (["c"], ["a/wrangler.toml", "b/wrangler.toml", "wrangler.toml"]),
    ],
)
def test_exclusions_are_globs_as_in_gitignore(globs, left, tmp_path):
    build(tmp_path, "a/wrangler.toml", "a/c/wrangler.toml", "b/wrangler.toml", "wrangler.toml")
    assert found(tmp_path, exclude=globs) == left


def test_exclusions_hold_for_named_files_too(tmp_path):
    build(tmp_path, "a/wrangler.toml", "wrangler.toml")
    assert found(tmp_path, "a/wrangler.toml", "wrangler.toml", exclude=["a/"]) == ["wrangler.toml"]


def test_a_file_named_twice_is_read_once(tmp_path, monkeypatch):
    build(tmp_path, "a/wrangler.toml")
    monkeypatch.chdir(tmp_path)
    report = lint_paths(["a", "a/wrangler.toml", "./a/../a/wrangler.toml", str(tmp_path / "a" / "wrangler.toml")])
    assert len({os.path.abspath(path) for path in report.files}) == 1
    assert len(report.files) <= 2


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_loop_of_links_traps_nobody(tmp_path):
    build(tmp_path, "a/wrangler.toml")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b").symlink_to(tmp_path / "b")
    (tmp_path / "wrangler.json").symlink_to(tmp_path / "wrangler.json")
    report = lint_paths([str(tmp_path)])
    assert [os.path.basename(path) for path in report.files] == ["wrangler.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_named_loop_of_links_is_one_line_and_exit_2(tmp_path):
    (tmp_path / "wrangler.json").symlink_to(tmp_path / "wrangler.json")
    done = run("check", "wrangler.json", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_to_a_configuration_is_read(tmp_path):
    build(tmp_path, "real/other.toml")
    (tmp_path / "wrangler.toml").symlink_to(tmp_path / "real" / "other.toml")
    assert found(tmp_path) == ["wrangler.toml"]


def test_a_path_that_is_not_there_is_a_problem_and_the_rest_is_linted(tmp_path):
    build(tmp_path, "wrangler.toml")
    report = lint_paths([str(tmp_path / "gone"), str(tmp_path)])
    assert [problem for problem in report.problems if "gone" in problem and "\n" not in problem]
    assert len(report.files) == 1


def test_a_file_that_vanishes_between_listing_and_reading_is_a_problem(tmp_path, monkeypatch):
    from cfq_lint.run import lint as run
    from cfq_lint.source import discovery

    build(tmp_path, "a/wrangler.toml", "b/wrangler.toml")
    original = discovery.find

    def find_then_lose(paths, exclude=()):
        listed = original(paths, exclude)
        (tmp_path / "a" / "wrangler.toml").unlink()
        return listed

    monkeypatch.setattr(run.discovery, "find", find_then_lose)
    report = lint_paths([str(tmp_path)])
    assert len(report.files) == 1
    [problem] = report.problems
    assert "a/wrangler.toml" in problem
    assert "cannot be read" in problem


def test_a_folder_that_vanishes_is_passed_over(tmp_path, monkeypatch):
    build(tmp_path, "a/wrangler.toml", "b/wrangler.toml")
    original = os.scandir

    def scandir(path):
        if str(path).endswith("a"):
            shutil.rmtree(path)
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path) == ["b/wrangler.toml"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_problem(tmp_path):
    build(tmp_path, "wrangler.toml")
    (tmp_path / "wrangler.toml").chmod(0)
    assert lint_paths([str(tmp_path)]).problems


def test_an_unreadable_file_is_one_line_and_exit_2_for_root_too(tmp_path, monkeypatch):
    build(tmp_path, "a/wrangler.toml", "b/wrangler.json")
    import builtins

    original = builtins.open

    def refuse(file, *arguments, **options):
        if str(file).endswith("a/wrangler.toml"):
            raise PermissionError(13, "Permission denied")
        return original(file, *arguments, **options)

    monkeypatch.setattr(builtins, "open", refuse)
    report = lint_paths([str(tmp_path)])
    [problem] = report.problems
    assert problem.endswith("Permission denied")
    assert len(report.files) == 1


def test_a_folder_named_like_a_configuration_is_searched_not_read(tmp_path):
    build(tmp_path, "wrangler.toml/wrangler.json")
    assert found(tmp_path) == ["wrangler.toml/wrangler.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_nobody_writes_to_does_not_hang_a_run(tmp_path):
    os.mkfifo(tmp_path / "wrangler.toml")
    build(tmp_path, "a/wrangler.json")
    assert found(tmp_path) == ["a/wrangler.json"]


def test_five_megabytes_of_brackets_are_a_finding(tmp_path):
    (tmp_path / "wrangler.json").write_text("[" * 5_000_000, encoding="utf-8")
    (tmp_path / "wrangler.x.toml").write_text("a = " + "[" * 5_000_000, encoding="utf-8")
    report = lint_paths([str(tmp_path)])
    assert {finding.name for finding in report.findings} <= {"parse-error", "shadowed-config"}
    assert {finding.path.rsplit("/", 1)[-1] for finding in report.findings if finding.name == "parse-error"} == {
        "wrangler.json", "wrangler.x.toml",
    }  # fmt: skip


def test_an_empty_folder_is_a_problem_and_no_finding(tmp_path):
    report = lint_paths([str(tmp_path)])
    assert (report.files, report.findings, report.problems) == ((), (), (f"no wrangler files in {tmp_path}",))


def test_the_cases_pattern_of_the_hook_selects_what_people_call_their_files():
    import re

    paths = (FIXTURES / "cases" / "C052" / "paths.txt").read_text(encoding="utf-8").split()
    assert len(paths) == 7
    assert [bool(re.search(FILE_PATTERN, path)) for path in paths] == [True] * 4 + [False] * 3


# --- which of them wrangler reads


def shadows(report):
    return {
        finding.path.rsplit("/", 1)[-1]: finding.message for finding in report.findings if finding.name == "shadowed-config"
    }


@pytest.mark.parametrize(
    ("names", "shadowed"),
    [
        (["wrangler.json", "wrangler.jsonc", "wrangler.toml"], {"wrangler.jsonc": "wrangler.json", "wrangler.toml": "wrangler.json"}),
        (["wrangler.jsonc", "wrangler.toml"], {"wrangler.toml": "wrangler.jsonc"}),
        (["wrangler.json", "wrangler.toml"], {"wrangler.toml": "wrangler.json"}),
        (["wrangler.toml"], {}),
        (["wrangler.json", "wrangler.staging.toml"], {}),
    ],
)
def test_json_comes_before_jsonc_and_jsonc_before_toml(names, shadowed, tmp_path):
    build(tmp_path, *names)
    said = shadows(lint_paths([str(tmp_path)]))
    assert said.keys() == shadowed.keys()
    for name, better in shadowed.items():
        assert f"finds {better} first" in said[name]


def test_a_json_of_an_ancestor_beats_a_nearer_jsonc(tmp_path):
    build(tmp_path, "wrangler.json", "apps/api/wrangler.jsonc")
    said = shadows(lint_paths([str(tmp_path / "apps")]))
    assert "../../wrangler.json" in said["wrangler.jsonc"]


def test_a_jsonc_of_an_ancestor_does_not_beat_a_nearer_json(tmp_path):
    build(tmp_path, "wrangler.jsonc", "apps/api/wrangler.json")
    assert not shadows(lint_paths([str(tmp_path)]))


def test_a_toml_of_an_ancestor_beats_nothing(tmp_path):
    build(tmp_path, "wrangler.toml", "apps/api/wrangler.toml")
    assert not shadows(lint_paths([str(tmp_path)]))


def test_shadowing_is_a_warning_at_the_top_and_the_file_is_linted_all_the_same(tmp_path):
    report = lint_files(tmp_path, {"wrangler.json": OK, "wrangler.toml": "legacy_env = 1\nqueues = {}\n"})
    said = {(f.name, f.severity.value, f.line, f.column) for f in report.findings}
    assert said == {("shadowed-config", "warning", 1, 1), ("legacy-env", "error", 1, 1)}


@pytest.mark.parametrize(
    ("better", "worse", "is_said"),
    [
        ('{ "name": "a" }', 'name = "a"', False),
        ('{ "name": "a" }', "queues = {}", True),
        ('{ "queues": {} }', 'name = "a"', True),
        ('{ "name": "a" }', '[[queue.consumers]]\nqueue = "a"', True),
    ],
)
def test_shadowing_matters_where_queues_are_concerned(better, worse, is_said, tmp_path):
    report = lint_files(tmp_path, {"wrangler.json": better, "wrangler.toml": worse})
    assert bool(shadows(report)) == is_said


# --- redirects


def test_a_redirect_for_another_environment_stops_wrangler(tmp_path):
    """Tried with wrangler 4.164.0: it stops where `targetEnvironment` is there and another one."""
    for built, asked, stops in [("production", "staging", True), ("staging", "staging", False), (None, "staging", False), ("staging", None, False)]:
        target = '{ "name": "a" }' if built is None else f'{{ "name": "a", "targetEnvironment": "{built}" }}'
        redirect(tmp_path, '{ "configPath": "../../dist/wrangler.json" }', target=target)
        (tmp_path / "wrangler.jsonc").write_text('{ "queues": { "producers": [{ "binding": "A", "queue": "a" }] }, "env": { "staging": {} } }', encoding="utf-8")
        report = lint_paths([str(tmp_path / "wrangler.jsonc")], env=asked, select=["broken-redirect", "env-missing-in-file"])
        assert [f.name for f in report.findings] == ["broken-redirect"] * stops
        if stops:
            assert "built for the environment 'production'" in report.findings[0].message


def redirect(folder, text, *, base="", target=None):
    files = {"wrangler.jsonc": OK, f"{base}.wrangler/deploy/config.json": text}
    if target is not None:
        files["dist/wrangler.json"] = target
    return lint_files(folder, files)


def test_a_redirect_is_said_and_followed_where_asked(tmp_path):
    report = redirect(tmp_path, '{ "configPath": "../../dist/wrangler.json" } // by a build', target='{ "legacy_env": 1 }')
    [finding] = [f for f in report.findings if f.name == "redirected-config"]
    assert (finding.severity, finding.line, finding.column) == ("info", 1, 1)
    assert "dist/wrangler.json" in finding.message
    assert finding.related[0].place.path.endswith(".wrangler/deploy/config.json")
    followed = lint_paths([str(tmp_path / "wrangler.jsonc")], follow_redirect=True)
    assert [path.rsplit("/", 1)[-1] for path in followed.files] == ["wrangler.json", "wrangler.jsonc"]
    assert "legacy-env" in {f.name for f in followed.findings}
    not_followed = lint_paths([str(tmp_path / "wrangler.jsonc")])
    assert len(not_followed.files) == 1


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("{", None, "not JSONC"),
        ("", None, "not JSONC"),
        ("\ufeff{ 'configPath': 1 }", None, "not JSONC"),
        ("{}", None, "no string `configPath`"),
        ('{ "configPath": 5 }', None, "no string `configPath`"),
        ('{ "configPath": "" }', None, "no string `configPath`"),
        ("[]", None, "no string `configPath`"),
        ("5", None, "no string `configPath`"),
        ('{ "configPath": "../../dist/wrangler.json" }', None, "dist/wrangler.json does not exist"),
        ('{ "configPath": "../../dist/" }', OK, "does not exist"),
        ('{ "configPath": "../../dist/wrangler.json" }', '{ "env": {} }', "has `env`"),
        ('{ "configPath": "\\u0000" }', None, "does not exist"),
    ],
)
def test_a_broken_redirect_is_an_error_that_says_what_is_wrong(text, target, said, tmp_path):
    redirect(tmp_path, text, target=target)
    report = lint_paths([str(tmp_path / "wrangler.jsonc")])
    [finding] = [f for f in report.findings if f.name == "broken-redirect"]
    assert (finding.severity, finding.line) == ("error", 1)
    assert said in finding.message
    assert ".wrangler/deploy/config.json" in finding.message
    assert not report.problems


def test_a_redirect_in_utf_16_is_broken(tmp_path):
    report = lint_files(tmp_path, {"wrangler.jsonc": OK, ".wrangler/deploy/config.json": "\ufeff{}".encode("utf-16-le")})
    assert "broken-redirect" in {f.name for f in report.findings}


def test_the_file_that_a_redirect_deploys_is_not_blamed_for_it(tmp_path):
    report = redirect(tmp_path, '{ "configPath": "../../dist/wrangler.json" }', target=OK)
    assert {(f.name, f.path.rsplit("/", 2)[-2:] == ["dist", "wrangler.json"]) for f in report.findings} == {("redirected-config", False)}


def test_a_redirect_of_another_folder_is_refused_together_with_this_file(tmp_path):
    build(tmp_path, "apps/wrangler.json", "dist/wrangler.json")
    (tmp_path / ".wrangler" / "deploy").mkdir(parents=True)
    (tmp_path / ".wrangler" / "deploy" / "config.json").write_text('{ "configPath": "../../dist/wrangler.json" }', encoding="utf-8")
    report = lint_paths([str(tmp_path / "apps")])
    [finding] = [f for f in report.findings if f.name == "broken-redirect"]
    assert "another folder" in finding.message


def test_a_redirect_points_into_itself_and_nothing_loops(tmp_path):
    report = redirect(tmp_path, '{ "configPath": "../../wrangler.jsonc" }')
    assert "redirected-config" in {f.name for f in report.findings}
    followed = lint_paths([str(tmp_path)], follow_redirect=True)
    assert len(followed.files) == 1


def test_the_problem_of_a_redirect_has_its_own_place(tmp_path):
    report = redirect(tmp_path, '{\n  "configPath": "../../dist/gone.json"\n}')
    [finding] = [f for f in report.findings if f.name == "broken-redirect"]
    assert (finding.related[0].place.line, finding.related[0].place.column) == (2, 17)


def test_a_file_under_another_name_is_neither_shadowed_nor_redirected(tmp_path):
    report = redirect(tmp_path, '{ "configPath": "../../gone.json" }')
    assert report.findings
    (tmp_path / "wrangler.jsonc").rename(tmp_path / "wrangler.staging.jsonc")
    assert not lint_paths([str(tmp_path)]).findings


# --- what is deployed together


def documents(folder):
    """The documents of all files of a folder, as a run has them."""
    surroundings = Surroundings()
    found = {}
    for path in find([str(folder)])[0]:
        document = read(path)
        survey(document, path, surroundings)
        found[os.path.relpath(path, folder).replace(os.sep, "/")] = document
    return found


@pytest.mark.parametrize(
    ("name", "is_apart"),
    [
        ("wrangler.jsonc", False), ("wrangler.toml", False), ("wrangler.staging.toml", False), ("wrangler.production.json", False), ("wrangler.eu.toml", False),
        ("wrangler.latest.jsonc", False), ("wrangler.local.jsonc", True), ("wrangler.test.toml", True), ("wrangler.vitest.jsonc", True),
        ("wrangler.example.toml", True), ("wrangler.template.jsonc", True), ("wrangler.dev.toml", True), ("wrangler.queue-test.jsonc", True),
        ("wrangler.TEST.toml", True), ("apps/api/wrangler.toml", False), ("dist/wrangler.json", True), ("apps/api/dist/wrangler.json", True),
        ("test/wrangler.toml", True), ("packages/a/tests/wrangler.jsonc", True), ("examples/queue/wrangler.toml", True), ("testing-shop/wrangler.toml", False),
        ("workers/build/wrangler.jsonc", False), ("apps/docs/wrangler.jsonc", False), ("build/server/wrangler.json", True), ("Tests/wrangler.toml", True),
    ],
)  # fmt: skip
def test_what_is_not_deployed_beside_the_others_is_told_by_its_name_and_its_folders(name, is_apart, tmp_path):
    build(tmp_path, name)
    (tmp_path / ".git").mkdir()
    assert {path: document.apart is not None for path, document in documents(tmp_path).items()} == {name: is_apart}


def test_folders_above_the_repository_say_nothing(tmp_path):
    build(tmp_path, "test/examples/repo/wrangler.toml")
    (tmp_path / "test" / "examples" / "repo" / ".git").mkdir()
    assert documents(tmp_path / "test" / "examples" / "repo")["wrangler.toml"].apart is None
    assert documents(tmp_path / "test" / "examples" / "repo" / ".")["wrangler.toml"].apart is None


@pytest.mark.parametrize(
    ("text", "is_apart"),
    [
        ('{ "name": "shop" }', False),
        ('{ "name": "<worker name>" }', True),
        ('{ "name": "${APP}-api" }', True),
        ('{ "name": "YOUR_WORKER" }', True),
        ('{ "name": "{{name}}" }', True),
        ('{ "name": "replace-me" }', True),
        ('{ "name": "yours" }', False),
        ('{ "name": "shop", "topLevelName": "shop", "main": "index.js" }', True),
        ('{ "name": "shop", "userConfigPath": "/x/wrangler.json" }', True),
        ('{ "name": 1 }', False),
        ("[]", False),
        ("{", False),
    ],
)
def test_what_is_not_deployed_beside_the_others_is_told_by_what_it_holds(text, is_apart, tmp_path):
    (tmp_path / "wrangler.json").write_text(text, encoding="utf-8")
    assert (documents(tmp_path)["wrangler.json"].apart is not None) == is_apart


def test_a_redirect_tells_the_environment_that_was_built(tmp_path):
    build(tmp_path, "wrangler.jsonc")
    (tmp_path / ".wrangler" / "deploy").mkdir(parents=True)
    (tmp_path / ".wrangler" / "deploy" / "config.json").write_text('{ "configPath": "../../dist/wrangler.json" }', encoding="utf-8")
    (tmp_path / "dist").mkdir()
    for target, environment in [('{ "name": "a" }', None), ('{ "targetEnvironment": "staging" }', "staging"), ('{ "targetEnvironment": 1 }', None)]:
        (tmp_path / "dist" / "wrangler.json").write_text(target, encoding="utf-8")
        redirect = documents(tmp_path)["wrangler.jsonc"].redirect
        assert redirect.problem is None
        assert redirect.environment == environment


def test_a_shadow_tells_whether_it_speaks_of_queues(tmp_path):
    build(tmp_path, "wrangler.json", "wrangler.toml", "a/wrangler.toml")
    (tmp_path / "wrangler.json").write_text('{ "name": "a" }', encoding="utf-8")
    assert not documents(tmp_path)["wrangler.toml"].shadow_has_queues
    (tmp_path / "wrangler.json").write_text('{ "queues": {} }', encoding="utf-8")
    assert documents(tmp_path)["wrangler.toml"].shadow_has_queues
    assert not documents(tmp_path)["a/wrangler.toml"].shadow_has_queues, "a folder below has its own business"


def test_a_run_sees_the_whole_project_from_the_top_of_its_repository(tmp_path):
    build(tmp_path, "repo/apps/a/wrangler.toml")
    repo = tmp_path / "repo"
    assert is_whole_project([str(repo)])
    assert is_whole_project([str(repo / "apps")]), "without a repository the folder is all there is"
    (repo / ".git").mkdir()
    assert is_whole_project([str(repo)])
    assert is_whole_project([str(tmp_path)])
    assert is_whole_project([str(repo / "apps"), str(repo)])
    assert not is_whole_project([str(repo / "apps")])
    assert not is_whole_project([str(repo / "apps" / "a" / "wrangler.toml")])
    assert not is_whole_project([])
