import { z } from "zod";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { RolloutRecord } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { textField } from "../../../core/templates.ts";
import { inParallel } from "../../../lib/chatCompletions.ts";
import { failure, value } from "../perRow.ts";
import { asked, RemoteFailure, rewardsIn, type RemoteQuery, type RemoteServer } from "./remoteCall.ts";

const params = z.object({
  url: param(
    z.union([z.url(), z.array(z.url()).min(1)]),
    "Address of the server, e.g. `http://localhost:5000/get_reward`, or of several that share the work.",
  ),
  label: param(
    refers({ to: "field" }).optional(),
    "Field of the task's data that is sent as the label; default: the task's answer.",
  ),
  key: param(
    z.string().min(1).optional(),
    "Environment variable with a token that is sent as `Authorization: Bearer`; default: none, as OpenRLHF sends none.",
  ),
  batch: param(z.number().int().min(1).default(32), "Rollouts in one request."),
  parallel: param(z.number().int().min(1).default(8), "Requests in flight at once."),
  timeout: param(z.number().positive().default(180), "Seconds for one request."),
  tries: param(
    z.number().int().min(1).default(5),
    "Times that a request is made before its rollouts are errors.",
  ),
  wait: param(z.number().nonnegative().default(1), "Seconds before a request is made again."),
});
type Params = z.output<typeof params>;

const queryOf = ({ prompt, response, task }: RolloutRecord, label: string | undefined): RemoteQuery => ({
  query: prompt + response,
  prompt,
  label: (label === undefined ? task.answer : textField(task, label)) ?? "",
});

interface Part {
  readonly server: RemoteServer;
  readonly queries: readonly RemoteQuery[];
}

/** Of several servers each gets every so-manieth part. */
function partsOf(records: readonly RolloutRecord[], { url, label, batch, ...how }: Params): Part[] {
  const urls = typeof url === "string" ? [url] : url;
  return Array.from({ length: Math.ceil(records.length / batch) }, (_, i) => ({
    server: {
      url: urls[i % urls.length]!,
      key: how.key,
      timeout: how.timeout,
      tries: how.tries,
      wait: how.wait,
    },
    queries: records.slice(i * batch, (i + 1) * batch).map((record) => queryOf(record, label)),
  }));
}

/** A batch that the server fails on is asked rollout by rollout: what fails of one is its own error. */
async function valuesOf({ server, queries }: Part, signal: AbortSignal | undefined): Promise<TermValue[]> {
  const said = (why: string): TermValue => failure(`the reward server at ${server.url}: ${why}`);
  try {
    const rewards = rewardsIn(await asked(server, queries, signal), queries.length);
    if (typeof rewards === "string") return queries.map(() => said(rewards));
    return rewards.map((one) => {
      if (typeof one === "string") return said(one);
      const { reward, components } = one;
      return { ...value(reward), ...(Object.keys(components).length > 0 && { components }) };
    });
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    if (!error.answered || queries.length === 1) return queries.map(() => said(error.message));
    const alone = { ...server, tries: 1 };
    return (
      await Promise.all(queries.map((query) => valuesOf({ server: alone, queries: [query] }, signal)))
    ).flat();
  }
}

export const remoteRm = rewardTerm({
  name: "remote_rm",
  aliases: ["openrlhf"],
  summary:
    "A reward server that speaks OpenRLHF's protocol (`--reward.remote_url`, `remote_rm_url`): it is sent { query, prompts, labels } and answers { rewards, scores, extra_logs }. `scores` and `extra_logs` are recorded as components. What it does not answer is an error, never a 0.",
  formula: "r_i = rewards[i] of POST { query: [x_i + y_i], prompts: [x_i], labels: [y*_i] }",
  sources: ["OpenRLHF"],
  params,
  create: (options) => ({
    score: async (batch, { signal }) => {
      const parts = partsOf(batch.records, options);
      return (await inParallel(parts, options.parallel, (part) => valuesOf(part, signal))).flat();
    },
  }),
});
