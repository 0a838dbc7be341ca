"""`leasehold export`, as an operator runs it: into a file, or into whatever reads on."""

import json

from tests.parts.process import Place


def test_an_export_is_lines_on_standard_output_or_a_file_of_ones_own(here: Place) -> None:
    server = here.up()
    for path, body in (
        ("/v2/sites", {"slug": "board", "domain": "board.example"}),
        ("/v2/accounts", {"site": "board", "username": "ann", "secret": {"password": "LHCANARYfish"}}),
    ):
        assert server.ask("POST", path, server.token, body).status_code == 201
    file = here.folder / "accounts.ndjson"

    shown = here.run("export", "sites")
    secret = here.run("export", "accounts", "--secrets", "--output", str(file))

    assert (shown.code, secret.code) == (0, 0), shown.err + secret.err
    assert [json.loads(line)["slug"] for line in shown.out.splitlines()] == ["board"]
    assert "sites: 1, all of it" in shown.err
    assert (secret.out, file.stat().st_mode & 0o777) == ("", 0o600)
    assert json.loads(file.read_text())["secret"] == {"password": "LHCANARYfish"}
    assert "LHCANARYfish" not in secret.err
    again = here.run("import", "accounts", str(file))
    assert again.out == "accounts: 0 created, 1 updated, 0 rejected\n"
    refused = here.run("export", "seeds", "--secrets")
    assert (refused.code, "goes with accounts alone" in refused.err) == (2, True)
