/** `gradus rollouts [RUN] --search TEXT`: answers that hold it, of one run or of the whole store. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { plural } from "../../../shared/lib/format.ts";
import { rolloutsSearch, type ResultOf, type RolloutHit } from "../../../shared/protocol/protocol.ts";
import { visibleLine, visibleText } from "../../../shared/lib/visibleText.ts";
import { complain, print, printJson } from "../command.ts";
import { colours } from "../text/colours.ts";

export interface SearchOptions {
  readonly run: string | undefined;
  readonly text: string;
  readonly where: string | undefined;
  /** Hits that are shown. */
  readonly limit: number;
  readonly json: boolean;
}

export async function searchRollouts(
  connection: Requester,
  { run, text, where, limit, json }: SearchOptions,
): Promise<void> {
  const wish = { text, ...(run === undefined ? {} : { run }), ...(where === undefined ? {} : { where }) };
  await indexed(connection, wish);
  let [after, shown, total, atLeast]: [string | undefined, number, number, boolean] = [
    undefined,
    0,
    0,
    false,
  ];
  do {
    const answer: ResultOf<typeof rolloutsSearch> = await ask(connection, rolloutsSearch, {
      ...wish,
      limit: Math.min(limit - shown, 1000),
      ...(after === undefined ? {} : { after }),
    });
    for (const hit of answer.hits) {
      if (json) printJson(hit);
      else print(hitText(hit, run === undefined));
    }
    if (after === undefined || answer.how === "scan")
      total = Math.max(answer.total, shown + answer.hits.length);
    atLeast = answer.atLeast && answer.next !== null;
    shown += answer.hits.length;
    after = answer.next ?? undefined;
  } while (after !== undefined && shown < limit);
  if (!json)
    complain(
      `${shown < total || atLeast ? `${shown} of ${atLeast ? "at least " : ""}` : ""}${plural(total, "rollout")}`,
    );
}

/** The first search of a store reads its rollouts and makes the index: said where it takes a while. */
async function indexed(
  connection: Requester,
  wish: { readonly text: string; readonly run?: string },
): Promise<void> {
  for (;;) {
    const { complete, indexed: all } = await ask(connection, rolloutsSearch, { ...wish, limit: 1 });
    if (complete) break;
    if (process.stderr.isTTY)
      process.stderr.write(`\r\u001B[Kindexing ${all.done} of ${plural(all.of, "rollout")}`);
  }
  if (process.stderr.isTTY) process.stderr.write("\r\u001B[K");
}

function hitText({ run, step, group, index, reward, snippet }: RolloutHit, everywhere: boolean): string {
  const { bold, dim } = colours;
  let [shown, at] = ["", 0];
  for (const [start, end] of snippet.marks) {
    shown += visibleLine(snippet.text.slice(at, start)) + bold(visibleLine(snippet.text.slice(start, end)));
    at = end;
  }
  shown += visibleLine(snippet.text.slice(at));
  const place = `${everywhere ? `${run}  ` : ""}step ${step}  ${visibleText(group)}#${index}`;
  return `${dim(`${place}  reward ${reward === null ? "–" : String(reward)}`)}\n  ${shown}`;
}
