import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { ConfigFiles } from "../../../server/daemon/config/configFiles.ts";
import { until } from "../../support/until.ts";

describe("the files of an open config", () => {
  let folder = "";
  let file = "";
  let read: string[] = [];
  /** What is done when a text has been read. */
  let react: (text: string) => void = () => undefined;
  let files: ConfigFiles;
  const textOf = (): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "gone";
    }
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gradus-files-"));
    file = join(folder, "mine.ts");
    writeFileSync(file, "first");
    files = new ConfigFiles(
      () => {
        const text = textOf();
        read.push(text);
        react(text);
      },
      (error) => assert.fail(String(error)),
    );
    files.follow([file]);
    // The watcher is there as soon as it says anything; it waits for a text that rests.
    let looks = 0;
    await until(() => {
      if (looks++ % 20 === 0) writeFileSync(file, `first ${looks}`);
      return read.length > 0;
    }, "the watcher");
    const text = textOf();
    await until(() => read.at(-1) === text, "the last text");
  });
  beforeEach(() => {
    read = [];
    react = () => undefined;
  });
  after(async () => {
    await files.close();
    rmSync(folder, { recursive: true });
  });

  it("are read again when they are whole, though they were read half-written", async () => {
    react = (text) => {
      if (text === "") writeFileSync(file, "whole");
    };
    writeFileSync(file, "");
    await until(() => read.at(-1) === "whole", "the whole text");
  });

  it("are read again when another takes their place, when they go and when they come back", async () => {
    writeFileSync(`${file}.new`, "renamed");
    renameSync(`${file}.new`, file);
    await until(() => read.at(-1) === "renamed", "what was renamed");
    rmSync(file);
    await until(() => read.at(-1) === "gone", "that it is gone");
    writeFileSync(file, "back");
    await until(() => read.at(-1) === "back", "what came back");
  });
});
