/** The frameworks' own spelling of their names. */
export const frameworkNames = { trl: "TRL", openrlhf: "OpenRLHF", verl: "verl" } as const;

/** Whether there are tables of its releases: its files are checked, not only converted. */
export const isChecked = (name: string): name is keyof typeof frameworkNames =>
  Object.hasOwn(frameworkNames, name);
