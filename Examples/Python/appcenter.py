"""What a program does that came from App Center Analytics: appcenter.py SPOOL URL

Events are stored when the call returns, and sent from this process in requests of 50 logs, critical ones first. PYTHONPATH leads to
ferry.py, FERRY_LIBRARY to libferrytracker.so.
"""

import sys

import ferry

spool, url = sys.argv[1:]

with ferry.Tracker(spool, profile="appcenter", app_name="player", app_version="1.2.0") as analytics:
    # AppCenter.start(withAppSecret:services:)
    analytics.start_sending(
        url, body="appcenter",
        headers={"App-Secret": "00000000-0000-0000-0000-000000000000", "Install-ID": analytics.anonymous_id or ""})
    # AppCenter.countryCode
    analytics.set_country("PT")
    # Analytics.trackEvent("Video clicked", withProperties: …)
    analytics.track("Video clicked", {"Category": "Music", "FileName": "favorite.avi"})
    # Analytics.trackEvent(…, flags: .critical)
    analytics.track("Purchase failed", {"Amount": 9.99, "Items": 3, "Retried": False}, ferry.Priority.CRITICAL)
    # Sent now, as far as that goes; what is left is sent at the next start.
    print(analytics.dispatch(seconds=20).name)
