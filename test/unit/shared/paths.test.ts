/** Paths as each system has them: compared, written down, read back, and made of what a person calls something. */
import assert from "node:assert/strict";
import { posix, win32 } from "node:path";
import { test } from "node:test";
import { withDrive } from "../../../shared/lib/drive.ts";
import { pathOfAddress } from "../../../shared/lib/fileAddress.ts";
import { fileName, pathHere, wordOfFile } from "../../../shared/lib/fileName.ts";
import { isSamePath, liesIn } from "../../../shared/lib/liesIn.ts";
import { realPath } from "../../../shared/lib/realPath.ts";
import { fromAnySystem, relativePath, slashed } from "../../../shared/lib/slashes.ts";

const platforms = ["linux", "darwin", "win32"] as const;

test("one folder is one key, however its letters are written", () => {
  const disk = (path: string): string => path;
  const native = (path: string): string => path.replace(/^c:\\g/i, "C:\\G");
  const ask = Object.assign(disk, { native });
  assert.equal(realPath("c:\\g\\.gradus", ask), realPath("C:\\G\\.gradus", ask));
  const unanswered = Object.assign((path: string) => `real ${path}`, {
    native: (): string => {
      throw new Error("EISDIR");
    },
  });
  assert.equal(realPath("R:\\g", unanswered), "real R:\\g", "a drive in memory");
  assert.throws(() => realPath("/no/such/folder"), /ENOENT/);
});

test("folders are compared as their system does", () => {
  assert.ok(liesIn("c:/g/runs/a", "C:\\G", win32));
  assert.ok(liesIn("C:\\G", "c:\\g\\", win32));
  assert.ok(!liesIn("C:\\Gold", "C:\\G", win32));
  assert.ok(!liesIn("D:\\G\\a", "C:\\G", win32));
  assert.ok(!liesIn("C:\\", "C:\\G", win32));
  assert.ok(liesIn("/g/..a", "/g", posix), "a name may begin with two dots");
  assert.ok(!liesIn("/g", "/g/a", posix));
  assert.ok(!liesIn("/G/a", "/g", posix), "two folders of Linux");
  assert.ok(isSamePath("c:/g/a.yaml", "C:\\G\\a.yaml", win32));
  assert.ok(!isSamePath("/g/a.yaml", "/g/A.yaml", posix));
});

test("what is written down has `/`, and `\\` is read for ever", () => {
  const [run, config] = ["C:\\g\\.gradus\\runs\\one", "c:\\g\\conf\\a.gradus.yaml"];
  assert.equal(relativePath(run, config, win32), "../../../conf/a.gradus.yaml");
  assert.equal(
    relativePath("/g/.gradus/runs/one", "/g/conf/a.gradus.yaml", posix),
    "../../../conf/a.gradus.yaml",
  );
  assert.equal(slashed("a\\b", posix), "a\\b", "a name of Linux");
  assert.equal(fromAnySystem("..\\..\\..\\conf\\a.gradus.yaml"), "../../../conf/a.gradus.yaml");
  assert.equal(fromAnySystem("../a\\b.yaml"), "../a\\b.yaml");
});

test("an address is a path as the editor has it, whoever wrote it", () => {
  for (const address of ["file:///c%3A/g%20h/a.yaml", "file:///C:/g%20h/a.yaml", "C:\\g h\\a.yaml"])
    assert.equal(pathOfAddress(address, "win32"), "c:\\g h\\a.yaml", address);
  assert.equal(pathOfAddress("file://box/share/a.yaml", "win32"), "\\\\box\\share\\a.yaml");
  for (const platform of ["linux", "darwin"] as const) {
    assert.equal(pathOfAddress("file:///g%20h/a.yaml", platform), "/g h/a.yaml");
    assert.equal(pathOfAddress("/g h/a.yaml", platform), "/g h/a.yaml");
  }
  assert.equal(withDrive("C:relative", "win32"), "C:relative");
  assert.equal(withDrive("C:/g", "linux"), "C:/g");
});

test("a name that a person gives is one of a file on every system", () => {
  const names = [
    "CON",
    "nul.yaml",
    "Com1",
    "lpt9.a.b",
    "aux",
    'a<b>c:"d"/e\\f|g?h*i',
    "ends. . ",
    " . ",
    "…",
    "",
    "x".repeat(500),
    "..",
    "a\nb",
  ];
  for (const name of names) {
    const made = fileName(name);
    assert.match(made, /^[^<>:"/\\|?*\n]{1,120}$/u, name);
    assert.doesNotMatch(made, /[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i, name);
  }
  for (const name of ["countdown", "Größe 7b", "judge~", "console", "v1.2", "com10"])
    assert.equal(fileName(name), name);
  for (const word of ["aux", "judge", "Aux", "com1"]) assert.equal(wordOfFile(fileName(word)), word);
  assert.equal(fileName("", "run"), "run");
});

test("files of another system lie here under names that they can have", () => {
  assert.equal(pathHere("out/2026-01-02T10:00:00/aux.log", "win32"), "out/2026-01-02T10-00-00/aux~.log");
  assert.equal(pathHere("./../a./b", "win32"), "./../a/b");
  const long = `${"x".repeat(200)}.jsonl`;
  assert.equal(pathHere(long, "win32"), long);
  for (const platform of platforms)
    if (platform !== "win32") assert.equal(pathHere("a:b/aux", platform), "a:b/aux");
});
