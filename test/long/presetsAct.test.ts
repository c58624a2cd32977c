/**
 * Every preset, run for a few steps as its page says, and compared with what it extends: something of the training differs. In parts:
 * `node scripts/unit.mjs long/presetsAct --test-name-pattern='^[a-f]'`.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listPresets } from "../../server/config/presets.ts";
import { chatServer, type ChatServer } from "../support/chatServer.ts";
import { difference, seen, type Seen } from "../support/presetRuns.ts";
import { sandboxProcess } from "../support/sandboxProcess.ts";
import { bodyOf, plainOf, textOf, worldOf } from "../support/presetWorlds.ts";

/** Presets that choose nothing which trains, each with the reason. */
const exempt: Readonly<Record<string, string>> = {
  grpo: "names the choices that a config without a preset has",
  "teach-my-agent": "a simulation: `gradus curriculum --simulate` shows it, a run is one of `alp-gmm`",
};

await sandboxProcess();

/** Says yes to all that it is asked, and writes a task with an answer in every form that is looked for. */
let server: ChatServer;
const said = "Yes.\n```text\nHow many are 2 and 2?\n```\n\\boxed{4} [YES]\nVerdict: perfect";
before(async () => {
  server = await chatServer((asked) => {
    if (asked.includes("New task:")) return "1 2 3=6:";
    const score = asked.length % 2;
    const count = Number(/Score each of the (\d+)/.exec(asked)?.[1] ?? 0);
    if (count > 0) return `[${Array.from({ length: count }, (_, i) => i % 11).join(", ")}]`;
    if (asked.includes("Score: ")) return `Score: ${score}`;
    return asked.includes("Answer B:") ? (score === 1 ? "A" : "B") : said;
  });
});
after(() => server.close());

const bases = new Map<string, Promise<Seen>>();
function baseOf(base: string | null, preset: string): Promise<Seen> {
  const world = plainOf(worldOf(preset));
  const key = JSON.stringify([base, world]);
  const run = bases.get(key) ?? seen(textOf(base === null ? [] : [base], world), world, server.url);
  bases.set(key, run);
  return run;
}

for (const { id, extends: base } of listPresets())
  test(`${id} acts`, async (t) => {
    const world = worldOf(id);
    const mine = await seen(textOf([id], world), world, server.url);
    assert.equal(mine.status, "finished", mine.message);
    if (exempt[id] !== undefined) return t.diagnostic(exempt[id]);
    const theirs = await baseOf(base, id);
    assert.equal(theirs.status, "finished", theirs.message);
    const differs = difference(mine.trace, theirs.trace);
    assert.ok(differs !== undefined, `nothing differs; findings: ${mine.findings.join(", ")}`);
    t.diagnostic(differs);
    if (/generate:/.test(bodyOf(id))) assert.ok(mine.made > 0, `no task was made: ${mine.events.join("; ")}`);
  });
