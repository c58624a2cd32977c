/** Where an objective finds what heads of other models say. */
import type { Channel } from "../../../core/policy.ts";
import type { HeadOf } from "../../../core/loss.ts";

/** Of the recorded tokens. */
export const otherHead = ({ head, model }: HeadOf): Channel => `head:${head}@${model}`;
/** Of an action that the current policy takes instead of the recorded one, at the state it is taken in. */
export const drawnHead = ({ head, model }: HeadOf): Channel => `head:${head}@${model}~drawn`;
