import gzip
import json


def test_a_file_is_converted_and_the_verdict_stays(command, folder):
    ended = command("convert loss.run loss.json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("wrote loss.json: ")
    assert ended.out.endswith(" (trec -> jsonl)\n")
    assert command("convert loss.json back.run.gz --kind rankings").status == 0
    before, after = (command(f"compare {run} --baseline prod --json -") for run in ("loss.json", "back.run.gz"))
    assert before.status == after.status == 1
    verdicts = [json.loads(ended.out)["verdicts"] for ended in (before, after)]
    for name, verdict in zip(("loss", "back"), verdicts, strict=True):
        assert verdict[0]["candidate"] == name
        verdict[0]["candidate"] = ""
        del verdict[0]["inputs"]["candidate"]  # the digest: of the text of one, of the content of the other
        verdict[0]["figures"][0] = verdict[0]["figures"][0].removeprefix(name)
    assert verdicts[0] == verdicts[1]
    assert gzip.decompress((folder / "back.run.gz").read_bytes()).startswith(b"t01 Q0 bad1 1 ")


def test_what_is_lost_is_said(command, folder):
    topic = (folder / "good.run").read_text().split()[0]
    (folder / "t.tsv").write_text(f"{topic}\tred shoes\n")
    ended = command("convert good.run good2.run --topics t.tsv")
    assert (ended.status, ended.err) == (0, "lost: query texts\n")


def test_a_file_is_not_written_over_itself(command, folder):
    (folder / "link.json").symlink_to("good.run")
    before = (folder / "good.run").read_bytes()
    for out in ("good.run", "./good.run", "link.json"):
        ended = command(f"convert good.run {out}")
        assert ended.status == 2
        assert "would overwrite the file that this command reads" in ended.err
    assert (folder / "good.run").read_bytes() == before


def test_it_does_not_replace_the_topics_file(command, folder):
    before = (folder / "topics.tsv").read_bytes()
    ended = command("convert good.run topics.tsv --topics topics.tsv")
    assert ended.status == 2
    assert "would overwrite the file that this command reads" in ended.err
    assert (folder / "topics.tsv").read_bytes() == before


def test_bad_files_and_options_are_refused(command, folder):
    (folder / "bad.run").write_text("301 Q0 d1 1 x y\n")
    for line, status, problem in [
        ("convert nothing.run a.csv", 3, "no such file"),
        ("convert bad.run a.csv", 3, "bad.run:1: expected a finite number as the score"),
        ("convert good.run a.xyz", 2, "say it with --to: "),
        ("convert good.run nowhere/a.csv", 2, "OUT nowhere/a.csv: cannot write"),
        ("convert good.run a.csv --format cvs", 2, "has no known format"),
    ]:
        ended = command(line)
        assert (ended.status, ended.out) == (status, "")
        assert problem in ended.err
    assert not (folder / "a.csv").exists()
