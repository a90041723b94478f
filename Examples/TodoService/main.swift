// What Xcode's build adds to an extension by itself: the main function, which runs the principal class.
NotificationService.main()
