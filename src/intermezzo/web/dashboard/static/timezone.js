// Tells the server the browser's time zone, so that times are shown as they are here.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `intermezzo_timezone=${encodeURIComponent(zone)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
