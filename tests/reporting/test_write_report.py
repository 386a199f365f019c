import os
from pathlib import Path

import pytest

from dpaudit.claims.record import Record, read_record
from dpaudit.errors import OutputError
from dpaudit.reporting import render_html, write_report


def test_writes_four_files(tmp_path: Path, full_record: Record) -> None:
    folder = tmp_path / "new" / "report"
    write_report(full_record, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "junit.xml", "record.json", "report.md"]
    for path in folder.iterdir():
        text = path.read_bytes()
        assert text.endswith(b"\n")
        assert b"\r" not in text
    assert (folder / "index.html").read_text(encoding="utf-8") == render_html(full_record)


def test_the_record_written_can_be_rendered_again(tmp_path: Path, full_record: Record) -> None:
    write_report(full_record, tmp_path)
    write_report(read_record(tmp_path / "record.json"), tmp_path / "again")
    for name in ("record.json", "index.html", "junit.xml", "report.md"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_file_in_the_way_is_told(tmp_path: Path, full_record: Record) -> None:
    path = tmp_path / "taken"
    path.write_text("x")
    for folder in (path, path / "below"):
        with pytest.raises(OutputError, match=r"taken.*: cannot be written \("):
            write_report(full_record, folder)


def test_a_folder_without_permission_is_told(
    tmp_path: Path, full_record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *rest: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputError) as error:
        write_report(full_record, tmp_path)
    assert str(error.value) == (
        f"{tmp_path / 'record.json'}: cannot be written (Permission denied); name a folder that can be written"
    )
