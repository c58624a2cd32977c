export type Program = "node" | "newerNode" | "python" | "compiler" | "browser";
export interface SystemHere {
  readonly platform: NodeJS.Platform;
  readonly root: boolean;
  /** Whether there is a program of this name. */
  has(name: string): boolean;
}
export const slower: string;
export function installCommand(what: Program, here?: SystemHere): string;
export function engineCommand(home?: string): string;
export function bundleFix(home?: string): string;
export function elsewhere(system: string): string;
export function toGpu(platform?: NodeJS.Platform): string;
