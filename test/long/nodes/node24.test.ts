/** A part of the tests passes under Node 24. */
import { passesUnder } from "../../support/otherNode.ts";

passesUnder(24, "2/3");
