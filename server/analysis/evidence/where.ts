/** Conditions on rollouts, as `gradus rollouts --where` reads them. */

const text = (value: string): string => JSON.stringify(value);

/** `errors.style`, or `errors["any name"]` where the name cannot follow a dot. */
export const member = (table: "rewards" | "errors", term: string): string =>
  /^[A-Za-z_][\w/@-]*$/.test(term) ? `${table}.${term}` : `${table}[${text(term)}]`;

export const inArm = (arm: string): string => `arm == ${text(arm)}`;
export const training = `use == "train"`;
