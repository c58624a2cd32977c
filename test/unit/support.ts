/** What tests of the slots share: configs from text, batches from lists, a stream of random numbers. */
import { methodOf } from "../../server/methods/index.ts";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../server/rules/load.ts";
import type { RunConfig } from "../../server/core/config/runConfig.ts";
import type { Declaration, MethodContext, SlotMethods, SlotName } from "../../server/core/declaration.ts";
import { randomStream } from "../../server/lib/random.ts";
import type { EpisodeState } from "../../server/core/slots/guidance.ts";
import { replayState } from "../../server/run/step/generate/replayedTurns.ts";
import { batchOfRows } from "../../server/analysis/recorded.ts";
import type { Batch } from "../../server/core/rollouts.ts";
import type { RolloutRow } from "../../shared/rollouts/rollouts.ts";
import type { z } from "zod";

export const context: MethodContext = {
  folder: process.cwd(),
  random: randomStream(1, "test"),
  max_tokens: 10,
  group: 4,
  objective: (use, params) => {
    const declaration = methodOf("objective", use)!;
    return declaration.create(declaration.params.parse(params), context);
  },
};

/** A method with some of its parameters, the rest at their defaults. */
export function made<Slot extends SlotName, Params extends z.ZodObject>(
  declaration: Declaration<Slot, Params>,
  params: z.input<Params>,
  more: Partial<MethodContext> = {},
): SlotMethods[Slot] {
  return declaration.create(declaration.params.parse(params), { ...context, ...more });
}

/** Turns of an episode that stopped after the last reply, in an environment that cannot tell its state. */
export const goneOn = (
  said: readonly string[],
  replies: readonly string[],
  { reward, ...begun }: { readonly seed: number; readonly prompt: number; readonly reward?: number },
): EpisodeState["turns"] =>
  said.flatMap((text, at) => {
    const tokens = new Int32Array(0);
    const state = replayState({ ...begun, heard: true });
    return [
      { role: "assistant", text, tokens, ...(reward !== undefined && { reward }) },
      { role: "user", text: replies[at]!, tokens, state },
    ];
  });

export const temporary = (): string => mkdtempSync(join(tmpdir(), "gradus-test-"));

/** The config of a text; its diagnostics, where it has errors, fail the test. */
export function configOf(text: string, folder = temporary(), recorded = false): RunConfig {
  const file = join(folder, "test.gradus.yaml");
  writeFileSync(file, text);
  const { config, diagnostics } = loadConfig(file, { recorded });
  if (config === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return config;
}

/** A row with as many tokens as its log-probs have. */
export const row = (group: string, index: number, more: Partial<RolloutRow> = {}): RolloutRow => ({
  step: 0,
  group,
  index,
  ...more,
});
export const batchOf = (rows: readonly RolloutRow[]): Batch => batchOfRows(rows, []);

export const near = (actual: number | undefined, expected: number, tolerance = 1e-12): boolean =>
  actual !== undefined && Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
