/** The bundle of `extension.ts` that lies beside this one's. */
export * from "../extension.ts";
