/** `gradus runs turnover RUN`: which held-out tasks a run learned, and which it has lost again. */
import { readFileSync } from "node:fs";
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { plural } from "../../../../shared/lib/format.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { configReview, evaluationsQuery, type RunSummary } from "../../../../shared/protocol/protocol.ts";
import { stepsMade } from "../../../../shared/run/origin.ts";
import { turnover, type Turnover } from "../../../../shared/run/turnover.ts";
import { complain, print, printExactly, printJson } from "../../command.ts";
import { findRun, withDaemon } from "../store.ts";

interface TurnoverOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly review?: boolean;
}

export function turnoverCommand(program: Program): void {
  program
    .command("turnover")
    .description(
      "which held-out tasks a run learned from its first evaluation to its last, and which it lost",
    )
    .argument("<run>", "a run, live or finished")
    .option("--review", "the run's config with stages that draw more of the arms that forgot most, on stdout")
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((word: string, { store, json, review = false }: TurnoverOptions) =>
      withDaemon(store, async (connection) => {
        const run = await findRun(connection, word);
        if (review) return printReview(connection, run, json === true);
        const found = await turnoverOf(connection, run);
        if (json === true) printJson({ run: run.id, ...found });
        else for (const line of turnoverLines(found, (step) => stepsMade({ ...run, step }))) print(line);
      }),
    );
}

/** The config as it is in its file now. */
async function printReview(connection: Requester, { id, file }: RunSummary, json: boolean): Promise<void> {
  const text = readFileSync(file, "utf8");
  const review = await ask(connection, configReview, { run: id, text });
  if (json) return printJson({ run: id, ...review });
  complain(review.message);
  printExactly(review.text.trimEnd());
}

/** @throws UserError where fewer than two evaluations have results by task */
async function turnoverOf(connection: Requester, { id }: RunSummary): Promise<Turnover> {
  const { evaluations } = await ask(connection, evaluationsQuery, { run: id, tasks: true });
  const found = turnover(
    evaluations.flatMap(({ step, results }) => (results === undefined ? [] : [{ step, results }])),
  );
  if (found !== undefined) return found;
  throw new UserError(`${id} has fewer than two evaluations with results by task.`, {
    code: "turnover-few",
    action: "Wait for the next one, or evaluate more often: `evaluation.every`.",
  });
}

/** Tasks that are printed of each kind; the JSON has all. */
const most = 20;

/** @param made how many steps were made at a step's number */
export function turnoverLines(
  { first, last, tasks, learned, forgotten, kept, course }: Turnover,
  made: (step: number) => number,
): string[] {
  const listed = <Item>(items: readonly Item[], line: (item: Item) => string): string[] => [
    ...items.slice(0, most).map((item) => `  ${line(item)}`),
    ...(items.length > most ? [`  and ${items.length - most} more: --json lists all`] : []),
  ];
  return [
    `${plural(tasks, "held-out task")}, by their greedy answers, after ${made(first)} steps and after ${made(last)}`,
    ...course.map(
      ({ step, right, lost }) =>
        `  after ${made(step)}: ${right} right, ${lost} that were right before are not`,
    ),
    "",
    `${learned.length} learned, ${kept} kept, ${forgotten.length} forgotten`,
    ...(learned.length === 0 ? [] : ["learned: right since step"]),
    ...listed(learned, ({ task, solved }) => `${made(solved)}  ${task}`),
    ...(forgotten.length === 0 ? [] : ["forgotten: right at step, wrong at step"]),
    ...listed(forgotten, ({ task, solved, lost }) => `${made(solved)}  ${made(lost)}  ${task}`),
  ];
}
