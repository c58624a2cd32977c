/** A harness in a dry run: the program plays for real, with the policy as it begins. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TrainablePolicy } from "../../engine/index.ts";
import type { PolicyServer } from "../harness/policyServer.ts";
import { ServedRun } from "../harness/servedRun.ts";
import type { Appended } from "../step/log/recorder.ts";

/** Who said what in a row. */
interface DryTurn {
  readonly role: string;
  readonly text: string;
  readonly tokens: number;
}
/** What a program did with a task. */
export interface DryEpisode {
  readonly task: string;
  readonly prompt: string;
  /** Conversations that became rows, each with the tokens of its first prompt. */
  readonly rows: readonly { readonly prompt_tokens: number; readonly turns: readonly DryTurn[] }[];
  /** The program's verdict; null: none. */
  readonly verdict: number | null;
  readonly components: Readonly<Record<string, unknown>>;
  /** Why the episode failed. */
  readonly error?: string;
}

/** The policy at a server of its own. What it learns later changes nothing there. */
export async function servedAsItIs(
  policy: Pick<TrainablePolicy, "save">,
): Promise<{ readonly server: PolicyServer; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-dry-run-"));
  await policy.save(folder);
  return {
    server: new ServedRun({ program: process.argv[1] ?? "", target: folder }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The episodes of recorded rollouts, in the order in which they were recorded. */
export function episodesOf(records: readonly Appended[]): readonly DryEpisode[] {
  const episodes = new Map<string, DryEpisode>();
  for (const record of records) {
    if (record.kind !== "rollout") continue;
    const { row, columns } = record;
    const { task, turns = [], played, failed } = row;
    const key = JSON.stringify([row.group, row.index]);
    const one: DryEpisode["rows"][number] = {
      prompt_tokens: columns.context?.length ?? 0,
      turns: turns.map(({ role, text, start, end }) => ({ role, text: text ?? "", tokens: end - start })),
    };
    const verdict = turns.at(-1)?.reward;
    episodes.set(key, {
      task: task?.id ?? row.group,
      prompt: row.prompt ?? "",
      rows: [...(episodes.get(key)?.rows ?? []), ...(turns.length > 0 ? [one] : [])],
      verdict: typeof verdict === "number" ? verdict : null,
      components: played?.components ?? {},
      ...(failed !== undefined && { error: failed }),
    });
  }
  return [...episodes.values()];
}
