/** A run with long rollouts of many turns, written as a log: no policy here says as much. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { openAttempt } from "../../shared/log/writer.ts";
import type { RolloutRecordLog } from "../../shared/log/records.ts";
import { onLines } from "../../shared/rollouts/turnTexts.ts";
import { CharacterTokenizer } from "../../server/engine/tokenizers/characters.ts";
import { runFolder } from "../../server/store/files.ts";

const config = resolve("examples/minimal/minimal.gradus.yaml");
const tokenizer = new CharacterTokenizer();

interface TraceTurn {
  readonly role: "assistant" | "tool";
  readonly text: string;
}

/** A policy that searches, reads and thinks, again and again. */
export function traceTurns(count: number): TraceTurn[] {
  return Array.from({ length: count }, (_, i): TraceTurn => {
    const about = `part ${Math.floor(i / 2) + 1}`;
    if (i % 2 === 1)
      return {
        role: "tool",
        text: `<tool_response>\n${Array.from({ length: 6 }, (_line, k) => `result ${k + 1} of ${about}: the harbour is ${40 + i + k} km north`).join("\n")}\n</tool_response>`,
      };
    return {
      role: "assistant",
      text: `<think>\nI need ${about} of the route.\nThe last result may be wrong.\n</think>\n<tool_call>\n{"name": "search", "arguments": {"query": "${about} of the route"}}\n</tool_call>`,
    };
  });
}

/** Numbers that are the same each time. */
function* noise(seed: number): Generator<number> {
  for (let state = seed + 1; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

function record(turns: readonly TraceTurn[], index: number, reward: number): RolloutRecordLog {
  const texts = onLines(turns.map(({ text }) => text));
  const tokens: number[] = [];
  const origin: number[] = [];
  const spans = turns.map(({ role, text }, i) => {
    const start = tokens.length;
    tokens.push(...tokenizer.encode(texts[i]!), ...(role === "assistant" ? [tokenizer.eos] : []));
    while (origin.length < tokens.length) origin.push(role === "assistant" ? 0 : 2);
    return { role, start, end: tokens.length, text };
  });
  const random = noise(index);
  const draw = (): number => random.next().value as number;
  const values = (make: () => number): Float32Array =>
    Float32Array.from(origin, (kind) => (kind === 0 ? make() : Number.NaN));
  const surprise = values(() => -(draw() ** 6) * 8);
  const near = (spread: number): Float32Array => surprise.map((value) => value + (draw() - 0.5) * spread);
  const own = spans.map(({ role }, i) => (role === "assistant" ? (i % 8 === 0 ? -0.1 : 0.02) : null));
  // A token is a character.
  const form: (number | null)[] = origin.map((kind) => (kind === 0 ? 0 : null));
  spans.forEach(({ start }, i) => {
    for (const [phrase, value] of [
      ["may be wrong", -0.01],
      ['{"name": "search"', 0.005],
    ] as const) {
      const at = start + texts[i]!.indexOf(phrase);
      if (at >= start) form.fill(value, at, at + phrase.length);
    }
  });
  return {
    kind: "rollout",
    step: 4,
    index,
    row: {
      step: 4,
      group: "4/0",
      index,
      task: { env: "search", arm: "long", id: "route-17", data: { answer: "46 km" } },
      prompt: "Find the way to the harbour.\nUse the tool as often as you like.",
      response: texts.join(""),
      finish: index === 2 ? "length" : "stop",
      source: "self",
      use: "train",
      turns: spans,
      rewards: {
        found: reward,
        manners: { level: "turn", values: own },
        form: { level: "token", values: form },
      },
      weights: { found: 1, manners: 0.5 },
      reward,
      advantage: reward - 0.5,
      admitted: true,
    },
    columns: {
      tokens: Int32Array.from(tokens),
      origin: Uint8Array.from(origin),
      mask: Uint8Array.from(origin, (kind) => (kind === 0 ? 1 : 0)),
      logp_old: surprise,
      logp_sampled: surprise,
      logp_proximal: near(0.02),
      logp_new: near(0.2),
      logp_ref: near(0.6),
      entropy: surprise.map((value) => -value * 0.7),
      advantages: values(() => reward - 0.5),
    },
  };
}

/** @param store where the run `trace` is added: one step, four rollouts */
export function writeTraceRun(store: string, turns = 60): void {
  const folder = runFolder(store, "trace");
  mkdirSync(folder, { recursive: true });
  const createdAt = "2026-01-02T00:00:00Z";
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({ id: "trace", file: config, name: "trace", set: [], createdAt }),
  );
  const writer = openAttempt(folder, 0);
  writer.append({
    kind: "start",
    run: "trace",
    attempt: 0,
    resumed_at: null,
    name: "trace",
    file: config,
    authored: readFileSync(config, "utf8"),
    config: {},
    seed: 1,
    steps: 5,
    backend: { name: "none", reason: "written by hand", device: "none" },
    git: null,
    version: "0.0.0",
    started_at: createdAt,
    bundles: {},
  });
  writer.commit(-1);
  const group = {
    task: "route-17",
    arm: "long",
    admitted: true,
    reason: null,
    successes: 2,
    size: 4,
    signal: 0.5,
  };
  writer.append({ kind: "group", step: 4, group: "4/0", ...group });
  for (let index = 0; index < 4; index++) writer.append(record(traceTurns(turns - index), index, index % 2));
  writer.append({ kind: "metrics", step: 4, time: 1, values: { "reward/mean": 0.5 } });
  writer.commit(4);
  writer.append({ kind: "end", step: 4, status: "finished", message: "", seconds: 60, ended_at: createdAt });
  writer.commit(4);
  writer.close();
}
