/** Methods that compare a rollout with the others of its group. */
import type { Choice } from "../core/declaration.ts";

/** Whether a group of one leaves the method nothing: it compares siblings, and the config does not say what then. */
export const comparesSiblings = ({ declaration, params }: Choice<"baseline"> | Choice<"scale">): boolean =>
  (declaration.needs?.includes("siblings") ?? false) && params["single"] === undefined;
