/** Hovers and lenses ask for no more than they need: of 12 projects each part is withdrawn, and the lines that stay say the same. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CodeLensRequest } from "vscode-languageserver-protocol/node";
import { startServer, type LanguageServer } from "../support/lspServer.ts";
import { projects, type Project } from "../support/projectParts.ts";

let server: LanguageServer;
let folder = "";
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "gradus-parts-"));
  server = await startServer();
});
after(async () => {
  assert.equal(await server.stop(), 0);
  rmSync(folder, { recursive: true, force: true });
});

const languages: Readonly<Record<string, string>> = { ".sh": "shellscript", ".py": "python" };
/** Without the numbers of one step, which all settings of its batches make together. */
const ofItself = (hover: string): string => hover.split("**One step in numbers**")[0] ?? "";
const words = /[\w./${}-]+/g;

/** What is said of each word of the file, by its line. */
async function saidOf({ file }: Project, own: string): Promise<Map<string, unknown>> {
  const text = readFileSync(join(own, file), "utf8");
  const language =
    languages[file.slice(file.lastIndexOf("."))] ?? (file.endsWith(".gradus.yaml") ? "gradus-yaml" : "yaml");
  // Of a trainer that is not checked nothing is published.
  void server.open(own, file, text, language);
  const lenses = (await server.ask(CodeLensRequest.type, {})) ?? [];
  const said = new Map<string, unknown>();
  for (const [line, words] of linesOf(text)) {
    const hovers = await Promise.all(
      words.map(async (character) => ofItself(await server.hover({ line, character }))),
    );
    said.set(text.split("\n")[line] ?? "", hovers);
  }
  said.set("lenses", lenses.map(({ command }) => command?.title).sort());
  await server.close();
  return said;
}

const linesOf = (text: string): [number, number[]][] =>
  text.split("\n").map((line, at) => [at, [...line.matchAll(words)].map(({ index }) => index)]);

describe("in the editor, without a part of a project", () => {
  for (const project of projects)
    it(`${project.name}: what does not need it says as before`, async () => {
      const made = (): string => {
        const own = mkdtempSync(join(folder, "a-"));
        project.make(own);
        return own;
      };
      const whole = made();
      const before = await saidOf(project, whole);
      if (project.name !== "SkyRL") assert.ok([...before.values()].flat().some((text) => text !== ""));
      for (const { name, withdraw } of project.parts) {
        const own = made();
        withdraw(own);
        const gone = name.replace(/^without /, "");
        for (const [line, now] of await saidOf(project, own))
          if (before.has(line) && !line.includes(gone))
            assert.equal(
              JSON.stringify(now).replaceAll(own, whole),
              JSON.stringify(before.get(line)),
              `${name}: ${line}`,
            );
      }
    });
});
