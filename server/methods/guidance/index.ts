export { guidanceAmounts } from "./amount/index.ts";
export { guidanceRatios } from "./ratio/index.ts";
export { guidanceSources } from "./source/index.ts";
export { guidanceTriggers } from "./trigger/index.ts";
