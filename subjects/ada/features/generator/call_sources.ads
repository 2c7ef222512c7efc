--  Writes the packages of the call tests: callees, control frames, and a package of test frames for each form of call

package Call_Sources is

   procedure Write;

end Call_Sources;
