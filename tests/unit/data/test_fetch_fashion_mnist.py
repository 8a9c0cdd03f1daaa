import gzip
import hashlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sluice.data import fetch_fashion_mnist as fashion
from sluice.errors import DataError

CONTENT = {name: f"{name} ".encode() * 50 for name in fashion.FILES}


@dataclass
class Server:
    url: str = ""
    answers: dict[str, bytes] = field(default_factory=dict)
    failures: list[int] = field(default_factory=list)
    """Status codes to give before the first answer."""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    """A mirror on this machine that has the four files."""
    state = Server(answers={f"/base/{name}.gz": gzip.compress(content) for name, content in CONTENT.items()})

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            status = state.failures.pop(0) if state.failures else 200 if self.path in state.answers else 404
            content = state.answers.get(self.path, b"") if status == 200 else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        state.url = f"http://127.0.0.1:{running.server_port}/base"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield state
        running.shutdown()
        thread.join()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The published files are small ones here."""
    published = {
        name: fashion.Published(len(content), hashlib.md5(content).hexdigest()) for name, content in CONTENT.items()
    }
    monkeypatch.setattr(fashion, "FILES", published)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def _content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_published_files_are_pinned() -> None:
    """Sizes follow from 60,000 and 10,000 images of 28 x 28 pixels."""
    sizes = {name: known.size_bytes for name, known in fashion.FILES.items()}
    assert sizes["train-images-idx3-ubyte"] == 16 + 60_000 * 28 * 28
    assert sizes["t10k-images-idx3-ubyte"] == 16 + 10_000 * 28 * 28
    assert sizes["train-labels-idx1-ubyte"] == 8 + 60_000
    assert sizes["t10k-labels-idx1-ubyte"] == 8 + 10_000
    assert all(len(known.md5) == 32 for known in fashion.FILES.values())


def test_fills_from_a_server(small: None, server: Server, folder: Path) -> None:
    """A base URL is an origin; the files come out unpacked and are known again."""
    fashion.fill(folder, origin=f"{server.url}/")
    assert _content(folder) == CONTENT
    assert fashion.holds(folder)


@pytest.mark.parametrize("packed", [False, True])
def test_fills_from_a_folder(small: None, tmp_path: Path, folder: Path, packed: bool) -> None:
    """Plain or gzipped."""
    for name, content in CONTENT.items():
        file = tmp_path / (f"{name}.gz" if packed else name)
        file.write_bytes(gzip.compress(content) if packed else content)
    fashion.fill(folder, origin=str(tmp_path))
    assert _content(folder) == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"x" * len(CONTENT["t10k-labels-idx1-ubyte"])), "not the published file: md5 .*, expected"),
        (gzip.compress(b"short"), "5 bytes, expected"),
        (gzip.compress(bytes(10**6)), f"{len(CONTENT['t10k-labels-idx1-ubyte']) + 1} bytes, expected"),
        (b"<html>", "cannot be unpacked"),
    ],
    ids=["other", "short", "bomb", "page"],
)
def test_other_content_is_refused(small: None, server: Server, folder: Path, content: bytes, message: str) -> None:
    """Size and MD5 decide, an error page and an archive that swells are stopped."""
    server.answers["/base/t10k-labels-idx1-ubyte.gz"] = content
    with pytest.raises(DataError, match=rf"could not be fetched(.|\n)*{message}(.|\n)*--origin FOLDER"):
        fashion.fill(folder, origin=server.url)


def test_a_missing_file_is_asked_for_once(small: None, server: Server, folder: Path) -> None:
    """404 does not pass by itself."""
    del server.answers["/base/train-images-idx3-ubyte.gz"]
    with pytest.raises(DataError, match="HTTP 404"):
        fashion.fill(folder, origin=server.url)
    assert len(server.asked) == 1


def test_a_hiccup_is_tried_again(small: None, server: Server, folder: Path) -> None:
    """503 may pass by itself."""
    server.failures.append(503)
    fashion.fill(folder, origin=server.url)
    assert len(server.asked) == 5


def test_the_next_origin_is_taken(small: None, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Debian, a mirror without the files, then one that has them."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(fashion, "_MIRRORS", (f"{server.url}/nothing", server.url))
    fashion.fill(folder, origin=None)
    assert _content(folder) == CONTENT


def test_all_reasons_are_told(small: None, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing gives the files, each origin says why."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(fashion, "_MIRRORS", (f"{server.url}/nothing",))
    with pytest.raises(DataError, match=r"no apt-get(.|\n)*nothing/train-images-idx3-ubyte.gz: HTTP 404"):
        fashion.fill(folder, origin=None)


def test_a_server_that_is_gone_is_named(small: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all tries, with the address."""
    monkeypatch.setattr(fashion, "_TRIES", 1)
    with pytest.raises(DataError, match=r"http://127.0.0.1:9/train-images-idx3-ubyte.gz: .*refused.* \(1 tries\)"):
        fashion.fill(folder, origin="http://127.0.0.1:9")


def test_a_folder_without_the_files_is_named(folder: Path, tmp_path: Path) -> None:
    """The name that was looked for is in the message."""
    with pytest.raises(DataError, match="has neither train-images-idx3-ubyte nor"):
        fashion.fill(folder, origin=str(tmp_path / "empty"))


def test_holds_is_exact(small: None, folder: Path) -> None:
    """One file more, or one other byte, is another data set."""
    assert not fashion.holds(folder)
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    assert fashion.holds(folder)
    (folder / "more").touch()
    assert not fashion.holds(folder)
    (folder / "more").unlink()
    (folder / "t10k-labels-idx1-ubyte").write_bytes(b"x")
    assert not fashion.holds(folder)
