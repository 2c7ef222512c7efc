--  The answer to GET /api.

with Servlet.Core;

package Greeting is

   procedure Register (Application : in out Servlet.Core.Servlet_Registry'Class);

end Greeting;
