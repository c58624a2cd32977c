/** The bundle of `extension.ts` that lies next to this one's. */
export * from "../extension.ts";
