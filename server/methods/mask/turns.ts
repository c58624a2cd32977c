import { z } from "zod";
import { mask, param } from "../../core/declaration.ts";
import type { Turn } from "../../core/slots/turn.ts";
import { bySpans } from "./rows.ts";

export const turns = mask({
  name: "turns",
  summary:
    "Only some turns of a conversation train: those of a role or an agent, or the first or last of them. A rollout without turns is one turn, and trains.",
  sources: ["Training Language Models to Self-Correct via Reinforcement Learning"],
  params: z.object({
    roles: param(z.array(z.string()).optional(), "Roles that train; default: all."),
    agents: param(z.array(z.string()).optional(), "Agents that train; default: all."),
    which: param(z.enum(["all", "first", "last"]).default("all"), "Which of those turns train."),
  }),
  create: ({ roles, agents, which }) => {
    const counts = ({ role, agent }: Turn): boolean =>
      (roles === undefined || roles.includes(role)) &&
      (agents === undefined || (agent !== undefined && agents.includes(agent)));
    return bySpans(({ records }, row) => {
      const all = records[row]!.turns;
      if (all === undefined) return undefined;
      const own = all.filter(counts);
      const chosen = which === "all" ? own : which === "first" ? own.slice(0, 1) : own.slice(-1);
      return chosen.map(({ start, end }) => [start, end]);
    }, "inside");
  },
});
