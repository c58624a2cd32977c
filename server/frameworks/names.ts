/** The frameworks' own spelling of their names. */
export const frameworkNames = { trl: "TRL", openrlhf: "OpenRLHF", verl: "verl" } as const;
