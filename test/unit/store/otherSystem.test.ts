/** A store that was written on Windows is read here: its paths have `\`. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { placedFile } from "../../../server/analysis/imported/placedStep.ts";
import { makeRunFolder } from "../../../server/daemon/runs/newRun.ts";
import { readRunFile, runFilePath, runFolder } from "../../../server/store/files.ts";
import { withDrive } from "../../../shared/lib/drive.ts";
import { configPlace } from "../../../shared/run/runPlace.ts";

const project = mkdtempSync(join(tmpdir(), "gradus-other-"));
after(() => rmSync(project, { recursive: true, force: true }));
const store = join(project, ".gradus");
const folder = join(store, "runs", "one");
const put = (path: string, text = ""): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const there = "C:\\Users\\Ann\\project";

test("a run's config is found where it lies now", () => {
  mkdirSync(folder, { recursive: true });
  const config = withDrive(put(join(project, "conf", "a.gradus.yaml")));
  const file = `${there}\\conf\\a.gradus.yaml`;
  assert.equal(configPlace(folder, { file, relative: "..\\..\\..\\conf\\a.gradus.yaml" }), config);
  assert.equal(
    configPlace(folder, { file }),
    config,
    "of a version that did not say where it lay from the store",
  );
  put(
    runFilePath(folder),
    JSON.stringify({
      id: "one",
      file,
      relative: "..\\..\\..\\conf\\a.gradus.yaml",
      name: "a",
      createdAt: "2026",
    }),
  );
  assert.equal(readRunFile(folder)?.file, config);
});

test("the rollouts of another trainer are found, next to the run or in it", () => {
  const near = put(join(project, "out", "1.jsonl"));
  const placed = { relative: "..\\..\\..\\out\\1.jsonl", file: `${there}\\out\\1.jsonl` };
  assert.equal(placedFile(folder, placed), near);
  rmSync(near);
  const own = put(join(folder, "rollouts", "1.jsonl"));
  assert.equal(placedFile(folder, placed), own);
});

test("what is written has `/`", () => {
  const file = put(join(project, "conf", "b.gradus.yaml"));
  const id = makeRunFolder(store, "CON", { file, set: [] }, undefined);
  assert.match(id, /^con-\d{8}-\d{6}-[0-9a-f]{4}$/, "no name that Windows keeps");
  assert.equal(readRunFile(runFolder(store, id))?.relative, "../../../conf/b.gradus.yaml");
});
