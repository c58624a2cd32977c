/** docs/trust.md, against the code and against a folder whose every program leaves a mark when it is started. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { ask } from "../../shared/daemon/request.ts";
import * as protocol from "../../shared/protocol/protocol.ts";
import { starts } from "../../server/cli/trust.ts";
import { gradus } from "../support/cli.ts";
import { some } from "../support/thorough.ts";
import { PlantedFolder } from "../support/plantedFolder.ts";
import { writeTraceRun } from "../support/traceRun.ts";
import { Sandbox } from "./daemon.ts";

/** Names in backticks by what their row says that they start. */
const rows = new Map(
  readFileSync("docs/trust.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && line.includes("`"))
    .map((line): [string, string[]] => {
      const [, what = "", names = ""] = line.split("|");
      const start = what.trim().replaceAll("`", "");
      return [start, [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)];
    }),
);
const row = (what: string): string[] => rows.get(what)?.sort() ?? [];
const message = (value: object): string => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...value });
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
};

describe("docs/trust.md", () => {
  it("has each command in the row of what it starts", () => {
    const named = (what: string): string[] =>
      Object.entries(starts)
        .filter(([, own]) => own === what)
        .map(([name]) => name)
        .sort();
    assert.deepEqual(row("nothing"), named("nothing"));
    assert.deepEqual(row("nothing, unless with --trust-workspace"), named("with --trust-workspace"));
    assert.deepEqual(row("what its config names"), named("what its config names"));
  });

  it("has each request that says whether the workspace is trusted", () => {
    const asked = Object.values(protocol.requests)
      .filter(({ params }) => params instanceof z.ZodObject && "trusted" in params.shape)
      .map(({ method }) => method);
    assert.deepEqual(row("what the config names, where trusted"), asked.sort());
    const methods = new Set<string>(Object.values(protocol.requests).map(({ method }) => method));
    for (const name of row("a worker, which runs what the run's config names"))
      assert.ok(methods.has(name), name);
  });
});

describe("a folder from elsewhere", () => {
  let planted: PlantedFolder;
  before(() => {
    planted = new PlantedFolder();
    mkdirSync(join(planted.folder, ".gradus"));
  });
  after(() => planted.remove());

  const uri = (): string => pathToFileURL(join(planted.folder, "named.gradus.yaml")).href;
  const opened = (): string => {
    const text = readFileSync(join(planted.folder, "named.gradus.yaml"), "utf8");
    const textDocument = { uri: uri(), languageId: "yaml", version: 1, text };
    const capabilities = { processId: null, rootUri: pathToFileURL(planted.folder).href, capabilities: {} };
    return [
      message({ id: 1, method: "initialize", params: capabilities }),
      message({ method: "initialized", params: {} }),
      message({ method: "textDocument/didOpen", params: { textDocument } }),
      message({
        id: 2,
        method: "textDocument/hover",
        params: { textDocument: { uri: uri() }, position: { line: 6, character: 5 } },
      }),
      message({ id: 3, method: "shutdown" }),
      message({ method: "exit" }),
    ].join("");
  };
  /** Ways through the commands that only look: those that read most of the folder. */
  const ways: readonly string[] = [
    "validate .",
    "check .",
    "explain named.gradus.yaml --rollouts rollouts.jsonl",
    "runs import .",
    "lsp --stdio",
    "doctor",
    "curriculum unnamed.gradus.yaml --history history.jsonl",
    "curriculum named.gradus.yaml --simulate --steps 2 --seeds 1",
    "export unnamed.gradus.yaml --to verl --out verl",
  ];
  /** Every other command that only looks. */
  const others: readonly string[] = [
    "init fresh",
    "resolve named.gradus.yaml",
    "convert named.gradus.yaml",
    "runs list",
    "rollouts last",
    "sample last",
    "serve last",
    "methods",
    "presets",
    "papers",
    "rules",
    "schema",
    "daemon status",
    "engine status",
    "hook --print",
    "mcp",
  ];
  for (const way of [...ways, ...some(others, 2)])
    it(`starts nothing of it: gradus ${way}`, async () => {
      await gradus(way.split(" "), planted.folder, way.startsWith("lsp") ? opened() : "");
      assert.deepEqual(planted.started(), []);
    });

  it("is tried by every command that only looks", () => {
    const tried = new Set([...ways, ...others].map((way) => way.split(" ")[0]));
    const only = Object.entries(starts).filter(([, own]) => own !== "what its config names");
    assert.deepEqual(
      only.filter(([name]) => !tried.has(name)),
      [],
    );
  });

  it("leaves marks where it is trusted", async () => {
    const marks = async (...words: string[]): Promise<string[]> => {
      await gradus(words, planted.folder);
      return planted.started();
    };
    const file = "named.gradus.yaml";
    assert.deepEqual(await marks("export", file, "--to", "trl", "--out", "o", "--trust-workspace"), [
      "bin/python",
    ]);
    assert.deepEqual((await marks("doctor", file, "--trust-workspace")).sort(), [
      ".venv/bin/python",
      "bin/python",
    ]);
    assert.deepEqual(await marks("curriculum", file, "--history", "history.jsonl", "--trust-workspace"), [
      "bin/python",
    ]);
    assert.notDeepEqual(await marks("reward", file, "--rollouts", "rollouts.jsonl"), []);
  });

  it("is named by doctor with what to do, and by export", async () => {
    const { stdout } = await gradus(["doctor", "unnamed.gradus.yaml"], planted.folder);
    assert.match(stdout, /reward own .*\.venv\/bin\/python is a program of this folder/);
    assert.match(
      stdout,
      /→ If you trust what is in this folder, run `gradus doctor` again with `--trust-workspace`\./,
    );
    const { stderr, code } = await gradus(["export", "named.gradus.yaml", "--to", "trl"], planted.folder);
    assert.match(
      stderr,
      /bin\/python: error: .*\[untrusted\]\n.*`gradus export` again with `--trust-workspace`/,
    );
    assert.equal(code, 1);
    assert.deepEqual(planted.started(), []);
  });
});

describe("a daemon that is asked about a folder from elsewhere", () => {
  let planted: PlantedFolder;
  let box: Sandbox;
  before(async () => {
    planted = new PlantedFolder();
    box = await Sandbox.make();
    writeTraceRun(box.store, 4);
  });
  after(async () => {
    await box.end();
    planted.remove();
  });

  it("starts nothing of it without trust, and does with it", async () => {
    const connection = await box.connect();
    const file = join(planted.folder, "named.gradus.yaml");
    const asked = { uri: pathToFileURL(file).href };
    const term = { term: "own", ask: true };
    const requests = (trusted: boolean): Promise<unknown>[] => [
      ask(connection, protocol.rescore, { ...asked, trusted }),
      ask(connection, protocol.rescoreSweep, { ...asked, trusted, term: "own" }),
      ask(connection, protocol.rewardCheck, { ...asked, trusted }),
      ask(connection, protocol.rewardGold, { ...asked, trusted }),
      ask(connection, protocol.rewardAttack, { ...asked, trusted, seconds: 1 }),
      ask(connection, protocol.rewardCoverage, { ...asked, trusted }),
      ask(connection, protocol.judgeReport, { ...asked, trusted, ...term }),
      ask(connection, protocol.rewardTest, { ...asked, trusted }),
    ];
    const tests = [join(planted.folder, "named.curriculum.test.yaml")];
    await Promise.allSettled([
      ...requests(false),
      ask(connection, protocol.curriculumTest, { files: tests }),
      ask(connection, protocol.configLens, asked),
    ]);
    assert.deepEqual(planted.started(), []);
    await Promise.allSettled(requests(true));
    assert.notDeepEqual(planted.started(), []);
  });
});
