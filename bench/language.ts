/** What an editor waits for: completion, diagnostics of long configs, a server's first answer, its memory with 100 files open. */
import { readFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompletionRequest, HoverRequest } from "vscode-languageserver-protocol/node";
import { startServer, type LanguageServer } from "../test/support/lspServer.ts";
import { builtCli } from "../test/support/cli.ts";
import { longConfig } from "./longConfig.ts";
import { measured, option, quantile } from "./report.ts";

const rounds = option("rounds", 30);
const warmUp = 5;

/** Milliseconds of each of some rounds, the first ones left out. */
async function timed(ask: (round: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < warmUp + rounds; round++) {
    const start = performance.now();
    await ask(round);
    if (round >= warmUp) times.push(performance.now() - start);
  }
  return times;
}

async function long(server: LanguageServer, folder: string, lines: number, goal: number): Promise<void> {
  const text = longConfig(lines);
  const other = text.map((line) => (line === "      group: 8" ? "      group: 4" : line));
  const keystroke = [...text];
  keystroke[text.lastIndexOf("      group: 8")] = "      group: 4";
  await server.open(folder, `long${lines}.gradus.yaml`, `${text.join("\n")}\n`);
  for (const [what, next] of [
    ["one value changed", keystroke],
    ["every stage changed", other],
  ] as const) {
    const changes = await timed((round) => server.change(`${(round % 2 === 0 ? next : text).join("\n")}\n`));
    measured({
      what: `diagnostics, ${lines} lines, ${what}, median`,
      value: quantile(changes, 0.5),
      unit: "ms",
      goal,
      setting: `${lines} lines, ${rounds} changes, warm`,
    });
  }
  const textDocument = { uri: server.uri };
  const position = { line: text.lastIndexOf("      group: 8"), character: 8 };
  // Each asked of a text that has just changed, as an editor does.
  const typed = async (round: number, ask: () => Promise<unknown>): Promise<number> => {
    await server.change(`${(round % 2 === 0 ? other : text).join("\n")}\n`);
    const start = performance.now();
    await ask();
    return performance.now() - start;
  };
  const spent: Record<"completion" | "hover", number[]> = { completion: [], hover: [] };
  for (let round = 0; round < rounds; round++) {
    spent.completion.push(
      await typed(round, () => server.ask(CompletionRequest.type, { textDocument, position })),
    );
    spent.hover.push(await typed(round, () => server.ask(HoverRequest.type, { textDocument, position })));
  }
  for (const [what, times] of Object.entries(spent))
    measured({
      what: `${what}, ${lines} lines, median`,
      value: quantile(times, 0.5),
      unit: "ms",
      goal: 30,
      setting: `${rounds} times, warm`,
    });
}

/** Resident memory of a process, in megabytes; Linux tells. */
const residentMegabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
await builtCli();
const began = performance.now();
const server = await startServer();
try {
  await server.open(
    folder,
    "first.gradus.yaml",
    readFileSync("examples/countdown/countdown.gradus.yaml", "utf8"),
  );
  const first = performance.now() - began;
  measured({ what: "first diagnostics, from the start of the server", value: first, unit: "ms", goal: 1500 });
  await long(server, folder, 500, 50);
  await long(server, folder, 4000, 150);
} finally {
  await server.stop();
}

const crowded = await startServer();
try {
  const presets = readdirSync("presets").filter((name) => name.endsWith(".yaml"));
  for (const name of presets.slice(0, 50))
    await crowded.open(
      folder,
      name.replace(".yaml", ".gradus.yaml"),
      readFileSync(join("presets", name), "utf8"),
    );
  const corpus = "test/fixtures/frameworks/verl";
  const scripts = readdirSync(corpus).filter((name) => /\.(sh|ya?ml)$/.test(name));
  for (let index = 0; index < 50; index++) {
    const name = scripts[index % scripts.length]!;
    const kind = name.endsWith(".sh") ? "shellscript" : "yaml";
    await crowded.open(folder, `${index}-${name}`, readFileSync(join(corpus, name), "utf8"), kind);
  }
  const { pid } = crowded.child;
  if (process.platform === "linux" && pid !== undefined)
    measured({ what: "memory with 100 files open", value: residentMegabytes(pid), unit: "MB", goal: 200 });
} finally {
  await crowded.stop();
  rmSync(folder, { recursive: true, force: true });
}
