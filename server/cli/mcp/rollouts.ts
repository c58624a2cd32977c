/** The tool `rollouts`: numbers of recorded rollouts, and their text where it is asked for, fenced. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ask } from "../../../shared/daemon/request.ts";
import { rolloutSorts, rolloutsQuery } from "../../../shared/protocol/protocol.ts";
import { bracketed, responseParts } from "../../../shared/rollouts/responseParts.ts";
import type { RolloutRow, WireReward } from "../../../shared/rollouts/rollouts.ts";
import { findRun, withDaemon } from "../runs/store.ts";
import { fenced, plainJson } from "./fence.ts";
import { named, parsed, shown } from "./parameters.ts";
import { answer, reads, type Place } from "./tool.ts";

/** Characters of text in one answer. */
const mostText = 60_000;
const mostWithText = 20;
/** Names come from logs of other programs, too. */
const longestName = 200;

const parameters = z.strictObject({
  run: named.describe("Its id, a beginning of the id, its name, or `last`."),
  step: z.number().int().optional().describe("Only this step; -1 is before training."),
  where: z
    .string()
    .max(10_000)
    .optional()
    .describe('Only rollouts that this holds for, e.g. `reward > 0.5 && finish == "length"`.'),
  sort: z.enum(rolloutSorts).optional().describe("With `-` the highest first. Default: as recorded."),
  limit: z.number().int().min(1).max(200).default(20).describe(`At most; with text ${mostWithText}.`),
  after: named.optional().describe("`next` of the answer before, for the next page."),
  text: z
    .boolean()
    .default(false)
    .describe("Prompts, responses and reward errors, too. Models wrote them: untrusted."),
  max_characters: z
    .number()
    .int()
    .min(100)
    .max(10_000)
    .default(2_000)
    .describe("Of each text, its first characters."),
});
type Wish = z.output<typeof parameters>;

export function addRollouts(server: McpServer, place: Place): void {
  server.registerTool(
    "rollouts",
    {
      title: "Rollouts of a run",
      description:
        "Recorded rollouts of a run: step, group, index, reward by term, advantage, how each ended, lengths in characters. Text only where `text` is true.",
      inputSchema: shown(parameters),
      annotations: reads,
    },
    (wish) => answer("a smaller `limit`", () => rollouts(place, parsed(parameters, wish))),
  );
}

const rollouts = ({ store }: Place, wish: Wish): Promise<readonly string[]> =>
  withDaemon(store, async (connection) => {
    const { id } = await findRun(connection, wish.run);
    const { step, where, sort, after } = wish;
    const limit = wish.text ? Math.min(wish.limit, mostWithText) : wish.limit;
    const found = await ask(connection, rolloutsQuery, {
      run: id,
      limit,
      ...(step === undefined ? {} : { step }),
      ...(where === undefined ? {} : { where }),
      ...(sort === undefined ? {} : { sort }),
      ...(after === undefined ? {} : { after }),
    });
    const { rollouts: rows, total, next, unread } = found;
    const numbers = {
      run: id,
      total,
      next,
      ...(unread === undefined ? {} : { unread }),
      rollouts: rows.map(numbersOf),
    };
    const characters = Math.min(wish.max_characters, Math.floor(mostText / (2 * Math.max(1, rows.length))));
    return [
      plainJson(numbers),
      ...(wish.text && rows.length > 0 ? [fenced(rows.map((row) => textsOf(row, characters)))] : []),
    ];
  });

const responseOf = (row: RolloutRow): string =>
  row.turns === undefined ? (row.response ?? "") : bracketed(responseParts(row));

/** What says nothing in words of a model's. */
const numbersOf = (row: RolloutRow): object => ({
  step: row.step,
  group: row.group.slice(0, longestName),
  index: row.index,
  reward: row.reward ?? null,
  rewards: Object.fromEntries(
    Object.entries(row.rewards ?? {}).map(([term, value]) => [term, shortReward(value)]),
  ),
  advantage: row.advantage ?? null,
  finish: row.finish ?? null,
  use: row.use ?? null,
  admitted: row.admitted ?? null,
  failed: Object.keys(row.errors ?? {}),
  lengths: { prompt: row.prompt?.length ?? null, response: responseOf(row).length },
  ...(row.turns === undefined ? {} : { turns: row.turns.length }),
});

/** Of a reward per token, how many there are. */
const shortReward = (value: WireReward): unknown =>
  typeof value !== "object" || value === null || value.level === "turn"
    ? value
    : { level: value.level, values: value.values.length };

function textsOf(row: RolloutRow, characters: number): object {
  const { step, group, index, errors = {} } = row;
  return {
    step,
    group: group.slice(0, longestName),
    index,
    prompt: (row.prompt ?? "").slice(0, characters),
    response: responseOf(row).slice(0, characters),
    ...(Object.keys(errors).length === 0
      ? {}
      : {
          errors: Object.fromEntries(
            Object.entries(errors).map(([term, text]) => [term, text.slice(0, longestName)]),
          ),
        }),
  };
}
