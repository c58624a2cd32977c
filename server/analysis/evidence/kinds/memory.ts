import { formatBytes } from "../../../../shared/lib/format.ts";
import type { EvidenceKind } from "../kind.ts";

/** A prediction that was this much too small is worth telling of. */
const surprise = 1.25;

export const memory: EvidenceKind = {
  id: "run-memory",
  see: (view) => {
    const [peak, predicted] = [view.last("memory/peak"), view.last("memory/predicted")];
    if (peak === undefined) return [];
    const about = {
      at: "model",
      reads: [
        { path: "model" },
        { path: "rollout.max_tokens" },
        { path: "rollout.prompts" },
        { path: "rollout.group" },
        { path: "update.micro_tokens" },
      ],
      metric: "memory/rss",
    };
    const than = predicted === undefined ? "" : `; the prediction was ${formatBytes(predicted)}`;
    const message = `The last run's process used ${formatBytes(peak)} of memory at its peak${than}.`;
    return predicted !== undefined && peak > surprise * predicted
      ? [{ ...about, level: "diagnostic", message }]
      : [{ ...about, level: "note", label: `measured ${formatBytes(peak)}`, message }];
  },
};
