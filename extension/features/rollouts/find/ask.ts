/** Asks for a condition on rollouts, and says while it is typed how many satisfy it or what is wrong with it. */
import { InputBoxValidationSeverity, ThemeIcon, window } from "vscode";
import { messageOf } from "../../../../shared/lib/errors.ts";
import { formatCount, plural } from "../../../../shared/lib/format.ts";
import {
  rolloutSorts,
  rolloutsQuery,
  rolloutsSearch,
  type RolloutSort,
} from "../../../../shared/protocol/protocol.ts";
import type { Asker } from "../../connection/asker.ts";
import { isSearch } from "./address.ts";
import { sortNames } from "./document.ts";

interface Condition {
  readonly where: string;
  readonly sort: RolloutSort;
}

/** Milliseconds without a key after which the condition is tried. */
const pause = 120;

const problemOf = (error: unknown): string => messageOf(error).replace(/^where: /, "");

async function countRows(
  session: Asker,
  run: string,
  where: string,
  all: number,
  sort: RolloutSort,
): Promise<string> {
  const { total } = await session.ask(rolloutsQuery, { run, limit: 1, ...(where !== "" && { where }) });
  return `${formatCount(total)} of ${plural(all, "rollout")} · Enter lists them ${sortNames[sort]}`;
}

/** An expression is looked for text by text: more than so many are not counted while it is typed. */
const mostCounted = 100;

/** The first search of a run makes its index: until then it says how far that is. */
async function countHits(session: Asker, run: string, text: string): Promise<string> {
  const { total, atLeast, complete, indexed } = await session.ask(rolloutsSearch, {
    run,
    text,
    limit: mostCounted,
  });
  if (!complete)
    return `Indexing ${formatCount(indexed.done)} of ${plural(indexed.of, "rollout")} · Enter lists them`;
  return `${atLeast ? "At least " : ""}${plural(total, "answer")} · Enter lists the newest first`;
}

/** undefined: the person changed their mind. */
export async function askCondition(
  session: Asker,
  run: { readonly id: string; readonly name: string },
  before: Condition,
): Promise<Condition | undefined> {
  const box = window.createInputBox();
  let sort = before.sort;
  const { total: all } = await session.ask(rolloutsQuery, { run: run.id, limit: 1 });
  let wrong = false;
  let asked = 0;
  const say = (message: string, severity: InputBoxValidationSeverity): void => {
    wrong = severity === InputBoxValidationSeverity.Error;
    box.validationMessage = { message, severity };
  };
  const check = async (): Promise<void> => {
    const own = ++asked;
    const where = box.value.trim();
    try {
      const found = isSearch(where)
        ? await countHits(session, run.id, where)
        : await countRows(session, run.id, where, all, sort);
      if (own === asked) say(found, InputBoxValidationSeverity.Info);
    } catch (error) {
      if (own === asked) say(problemOf(error), InputBoxValidationSeverity.Error);
    }
  };
  const place = (): void => {
    box.buttons = [
      { iconPath: new ThemeIcon("arrow-swap"), tooltip: `Sorted ${sortNames[sort]}: sort otherwise` },
    ];
  };
  box.title = `Find Rollouts of ${run.name}`;
  box.placeholder = 'reward > 0.5 && finish == "length", or a "phrase" or an /expression/ of the answer';
  box.prompt =
    "Compare reward, advantage, step, rewards.<term>, length(response), finish, arm, task …; join with && and ||";
  box.value = before.where;
  place();
  void check();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Condition | undefined>((resolve) => {
      box.onDidChangeValue(() => {
        clearTimeout(timer);
        timer = setTimeout(() => void check(), pause);
      });
      box.onDidTriggerButton(() => {
        sort = rolloutSorts[(rolloutSorts.indexOf(sort) + 1) % rolloutSorts.length]!;
        place();
        void check();
      });
      box.onDidAccept(async () => {
        clearTimeout(timer);
        await check();
        if (!wrong) resolve({ where: box.value.trim(), sort });
      });
      box.onDidHide(() => resolve(undefined));
      box.show();
    });
  } finally {
    clearTimeout(timer);
    box.dispose();
  }
}

/** undefined: the person changed their mind. */
export async function askSort(now: RolloutSort): Promise<RolloutSort | undefined> {
  const items = rolloutSorts.map((sort) => ({
    label: sortNames[sort],
    description: sort === now ? "as it is" : "",
    sort,
  }));
  return (await window.showQuickPick(items, { title: "Sort Rollouts" }))?.sort;
}
