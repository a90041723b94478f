import aldaba.testing.Aldaba;
import aldaba.testing.AldabaExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test that prints its server's address and does not end. */
@ExtendWith(AldabaExtension.class)
class EndlessTest {
    @Test
    void endless(Aldaba aldaba) throws Exception {
        System.out.println("server " + aldaba.apns());
        System.out.flush();
        Thread.currentThread().join();
    }
}
