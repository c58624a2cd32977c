/** What fixes would have done, by recorded rollouts that are scored again. Nothing of the workspace runs. */
import { messageOf } from "../../../shared/lib/errors.ts";
import { formatCount, formatNumber, plural } from "../../../shared/lib/format.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import type { VerdictFix } from "../../../shared/run/verdict.ts";
import { sampleOf } from "../../analysis/rescore/sweep.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { Overtaken, type Rescorer } from "../rescore/rescorer.ts";
import type { RescoreRequest } from "../rescore/rescoreWire.ts";

interface Over {
  readonly run: string;
  /** Steps with rollouts, ascending. */
  readonly steps: readonly number[];
}

/** Edits of these blocks change what recorded rollouts are worth; of others, which rollouts there would be. */
const rescorable = /^(reward|advantage)\./;

export async function withEffects(
  remote: Pick<RemoteStore, "call">,
  rescorer: Rescorer,
  fixes: readonly VerdictFix[],
  over: Over,
): Promise<readonly VerdictFix[]> {
  const told: VerdictFix[] = [];
  for (const [place, fix] of fixes.entries())
    told.push(
      fix.effect === null && fix.set.every(({ path }) => rescorable.test(path))
        ? { ...fix, effect: await effectOf(remote, rescorer, fix, { ...over, place }) }
        : fix,
    );
  return told;
}

/** null: it cannot be told. */
async function effectOf(
  remote: Pick<RemoteStore, "call">,
  rescorer: Rescorer,
  { set }: VerdictFix,
  { run, steps, place }: Over & { readonly place: number },
): Promise<string | null> {
  const { name, folder, file, authored, bundles } = await remote.call("runToRescore", run);
  const request: RescoreRequest = {
    run: { id: run, name, folder, authored, bundles },
    steps: [...sampleOf(steps)].sort((a, b) => a - b),
    file,
    text: authored,
    set: set.map(({ path, value }) => `${path}=${JSON.stringify(value)}`),
    trusted: false,
    unsaved: {},
    want: { kind: "run" },
  };
  let rescored: Rescored | undefined;
  try {
    await rescorer.ask(`verdict ${run} ${place}`, request, (part) => {
      rescored = part;
    });
  } catch (error) {
    // What cannot be scored again is no reason to withhold the verdict: the fix then says that its effect is unknown.
    if (!(error instanceof Overtaken)) rescorer.note(`effect of a fix: ${messageOf(error)}`);
    return null;
  }
  return rescored === undefined ? null : effectText(rescored);
}

/** "re-scored, 6,464 rollouts: reward 0.098 → 0, 1,203 of 6,300 advantages change sign, 12 groups begin to train, 40 stop". */
function effectText({ change }: Rescored): string {
  const { rollouts, mean, signFlips, signed, gained, lost } = change;
  const groups = [
    ...(gained > 0 ? [`${plural(gained, "group")} begin to train`] : []),
    ...(lost > 0 ? [`${plural(lost, "group")} no longer train`] : []),
  ];
  return [
    `re-scored, ${plural(rollouts, "rollout")}: reward ${formatNumber(fromWire(mean.before))} → ${formatNumber(fromWire(mean.now))}`,
    `${formatCount(signFlips)} of ${formatCount(signed)} advantages change sign`,
    ...groups,
  ].join(", ");
}
