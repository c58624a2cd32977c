/** The frameworks as they spell themselves. */
export const frameworkNames = { trl: "TRL", openrlhf: "OpenRLHF", verl: "verl" } as const;
