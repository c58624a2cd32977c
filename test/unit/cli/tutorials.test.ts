/**
 * Every tutorial is followed as it is written: its files (`title=PATH`) are made, its commands run in order, and what
 * a `text` block shows is in what the commands above it print. A command exits 0, or as its comment says.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";

const folder = join("docs", "tutorials");
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));

interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
}

const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w+)(?: title=(\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", file, text = ""]) => ({ language, file, text }),
  );

async function run(line: string, place: string): Promise<string> {
  const [command = "", comment = ""] = line.split(" # ");
  const [program, ...words] = command.trim().split(" ");
  assert.equal(program, "gradus", line);
  const { code, stdout, stderr } = await gradus(words, place);
  assert.equal(code, Number(/exits (\d)/.exec(comment)?.[1] ?? 0), `${line}\n${stdout}${stderr}`);
  return stdout + stderr;
}

async function follow(page: string, place: string): Promise<number> {
  let said = "";
  let commands = 0;
  for (const { language, file, text } of blocksOf(page)) {
    if (file !== undefined) {
      mkdirSync(dirname(join(place, file)), { recursive: true });
      writeFileSync(join(place, file), text);
    } else if (language === "sh") {
      const lines = text.trim().split("\n");
      commands += lines.length;
      said = (await Promise.all(lines.map((line) => run(line, place)))).join("\n");
    } else if (language === "text") {
      for (const shown of text.trim().split("\n"))
        assert.ok(said.includes(shown), `${shown}\nnot in\n${said}`);
    } else assert.fail(`a ${language} block has neither a title nor a use`);
  }
  return commands;
}

describe("tutorials", { concurrency: true }, () => {
  for (const name of pages)
    it(`${name} does what it says`, async () => {
      const place = mkdtempSync(join(tmpdir(), "gradus-tutorial-"));
      try {
        assert.ok((await follow(readFileSync(join(folder, name), "utf8"), place)) > 0);
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    });

  it("each is named in the README and in the documentation's index", () => {
    const [readme, index] = ["README.md", join("docs", "README.md")].map((file) =>
      readFileSync(file, "utf8"),
    );
    for (const name of pages) {
      assert.ok(readme?.includes(`docs/tutorials/${name}`), name);
      assert.ok(index?.includes(`(tutorials/${name})`), name);
    }
  });
});
