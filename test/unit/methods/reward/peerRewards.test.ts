/** Rewards as verl and TRL ship them, where a Python that has them is named. */
import { describe } from "node:test";
import { trlRewards, verlBySource, verlRewards, verlWithSource } from "../../../support/shippedRewards.ts";

const python = process.env["GRADUS_PEER_PYTHON"];

const without = "GRADUS_PEER_PYTHON names no Python with verl";
describe("verl's rewards", () => {
  verlRewards(python, without);
  verlWithSource(python, without);
  verlBySource(python, without);
});
describe("TRL's rewards", () => trlRewards(python, "GRADUS_PEER_PYTHON names no Python with trl"));
