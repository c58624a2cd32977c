import { once } from "node:events";
import { Option } from "commander";
import { ask, type Requester } from "../../shared/daemon/request.ts";
import {
  rolloutSorts,
  rolloutsQuery,
  runsShow,
  type InputOf,
  type RolloutSort,
} from "../../shared/protocol/protocol.ts";
import { criterionText, metCount } from "../../shared/rollouts/criteria.ts";
import { branchText } from "../../shared/rollouts/branchText.ts";
import { helpText } from "../../shared/rollouts/helpText.ts";
import { bracketed, responseParts } from "../../shared/rollouts/responseParts.ts";
import { visibleLine, visibleText } from "../../shared/lib/visibleText.ts";
import type { RolloutRow, WireReward } from "../../shared/rollouts/rollouts.ts";
import { complain, print, type Command } from "./command.ts";
import { followTask } from "./runs/followTask.ts";
import { whole } from "./options.ts";
import { UnreadSteps } from "./text/unreadSteps.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { findRun, withDaemon } from "./runs/store.ts";
import { searchRollouts } from "./runs/searchRollouts.ts";

interface Options {
  readonly store?: string;
  readonly json?: boolean;
  readonly step?: number;
  readonly where?: string;
  readonly search?: string;
  readonly limit?: number;
  readonly criteria?: boolean;
  readonly sort?: RolloutSort;
  readonly task?: string;
}

const page = 256;

export const command: Command = {
  name: "rollouts",
  configure: (program) => {
    program
      .argument("[run]", "its id, a prefix of the id, its name, or `last`; needed without --search")
      .option("--step <n>", "only this step", whole(-1))
      .option("--where <expression>", "e.g. 'reward > 0.5 && finish == \"length\"'")
      .addOption(new Option("--sort <by>", "the highest first with a -, e.g. -reward").choices(rolloutSorts))
      .option("--task <id>", "one task through training: what came of it step by step")
      .option(
        "--search <text>",
        'only answers that hold it: words, a "phrase", beginnings (wor*), -without, or /expression/i; without a run: of all',
      )
      .option("--limit <n>", "show at most this many", whole(1))
      .option("--criteria", "show each criterion of a rubric: whether it is met, and its points")
      .option("--store <folder>", "the store, or a folder in its workspace")
      .option("--json", "one rollout per line, with its tokens")
      .action((words: string | undefined, options: Options) =>
        withDaemon(options.store, async (connection) => {
          const run = words === undefined ? undefined : (await findRun(connection, words)).id;
          const { search: text, step, limit = 50, json = false } = options;
          if (text !== undefined) {
            const steps = step === undefined ? [] : [`step == ${step}`];
            const condition = conditionOf(options);
            const where = [...steps, ...(condition === undefined ? [] : [`(${condition})`])].join(" && ");
            return searchRollouts(connection, {
              run,
              text,
              where: where === "" ? undefined : where,
              limit,
              json,
            });
          }
          if (run === undefined)
            throw new UserError("Name a run, or what to look for in all of them.", {
              code: "usage",
              action:
                "gradus rollouts RUN, or gradus rollouts --search TEXT. List the runs: gradus runs list.",
            });
          if (options.task !== undefined && !json)
            return followTask(connection, run, options.task, conditionOf(options));
          return list(connection, run, options);
        }),
      );
  },
};

/** Rollouts that satisfy `where` and are of the task; undefined: all. */
function conditionOf({ where, task }: Options): string | undefined {
  const own = task === undefined ? undefined : `task == ${JSON.stringify(task)}`;
  if (own === undefined || where === undefined || where.trim() === "") return own ?? where;
  return `${own} && (${where})`;
}

async function list(connection: Requester, run: string, options: Options): Promise<void> {
  const { json, step, sort, criteria, limit: most = Number.POSITIVE_INFINITY } = options;
  const where = conditionOf(options);
  const wish: InputOf<typeof rolloutsQuery> = {
    run,
    tokens: json === true,
    ...(step === undefined ? {} : { step }),
    ...(where === undefined ? {} : { where }),
    ...(sort === undefined ? {} : { sort }),
  };
  let after: string | undefined;
  let printed = 0;
  let total = 0;
  let group = "";
  const unread = new UnreadSteps();
  do {
    const answer = await ask(connection, rolloutsQuery, {
      ...wish,
      limit: Math.min(page, most - printed),
      ...(after === undefined ? {} : { after }),
    });
    for (const row of answer.rollouts) {
      if (json === true) await emit(`${JSON.stringify(row)}\n`);
      else {
        const heading = `step ${row.step}  ${visibleLine(row.group)}  ${visibleLine(row.task?.arm ?? "")}`;
        if (heading !== group) print(`\n${heading}\n${indent(row.prompt ?? "", "  > ")}`);
        group = heading;
        print(text(row, criteria === true));
      }
    }
    unread.complain(answer.unread);
    printed += answer.rollouts.length;
    total = answer.total;
    after = answer.next ?? undefined;
  } while (after !== undefined && printed < most);
  for (const text of (await ask(connection, runsShow, { run })).damaged ?? []) complain(`warning: ${text}`);
  if (json !== true) complain(printed < total ? `${printed} of ${total} rollouts` : `${total} rollouts`);
}

async function emit(line: string): Promise<void> {
  if (!process.stdout.write(line)) await once(process.stdout, "drain");
}

const indent = (body: string, prefix: string): string =>
  visibleText(body)
    .split("\n")
    .map((line) => `${prefix}${line}`)
    .join("\n");
const asText = (value: WireReward | undefined): string =>
  value === undefined
    ? ""
    : value === null
      ? "–"
      : typeof value === "object"
        ? value.level === "turn"
          ? value.values.filter((one) => one !== null).join(" → ")
          : `per ${value.level}`
        : typeof value === "number"
          ? String(Math.round(value * 1e4) / 1e4)
          : value;

/** "style 0.5 (2 of 3 criteria met)". */
function termText(row: RolloutRow, name: string, text: string): string {
  const criteria = row.details?.[name]?.criteria;
  return criteria === undefined ? `${name} ${text}` : `${name} ${text} (${metCount(criteria)})`;
}

/** A line a criterion. */
const criteriaText = ({ details = {} }: RolloutRow): string =>
  Object.entries(details)
    .flatMap(([term, { criteria }]) =>
      criteria.map((one) => `      ${visibleLine(`${term} ${criterionText(one)}`)}\n`),
    )
    .join("");

function text(row: RolloutRow, criteria: boolean): string {
  const terms = Object.entries(row.rewards ?? {}).map(([name, value]) => termText(row, name, asText(value)));
  const errors = Object.entries(row.errors ?? {}).map(([name, message]) =>
    termText(row, name, `failed: ${message}`),
  );
  const marks = [
    `reward ${asText(row.reward ?? null)}`,
    `advantage ${asText(row.advantage ?? null)}`,
    ...terms,
    ...errors,
    row.finish ?? "",
    row.admitted === false ? "not admitted" : "",
  ];
  const help = row.help === undefined ? "" : `      ${visibleText(helpText(row.help))}\n`;
  const branch = row.parent === undefined ? "" : `      ${visibleText(branchText(row.parent))}\n`;
  const text = row.turns === undefined ? (row.response ?? "") : bracketed(responseParts(row));
  return `  [${row.index}] ${visibleText(marks.filter((mark) => mark !== "").join(" · "))}\n${branch}${help}${criteria ? criteriaText(row) : ""}${indent(text, "      ")}`;
}
